import { join } from "node:path";
import { startServe } from "@tests/fakes/serve_process.ts";
import type { TaskJson } from "@/protocol/task.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";
import type { BenchFolder } from "./bench_folder.ts";
import { type ChildProgram, startBenchProgram, startChild } from "./child_program.ts";

/** A server that is measured, in a process of its own. */
export interface HttpServer {
  readonly address: string;
  /** A task that is there, finished. */
  readonly taskId: string;
}

/** Ours, a bare Hono route, and the SDK's handlers on express under Node. Disposing ends their processes. */
export interface HttpServers extends AsyncDisposable {
  readonly ours: HttpServer;
  readonly hono: HttpServer;
  /** A text says why it is left out. */
  readonly sdk: HttpServer | string;
}

/** Who reads, with a fixed number of tasks, and who writes. */
export const benchKeys = { reader: "k_reader_0123456789", writer: "k_writer_0123456789" } as const;

const npmMs = 120_000;
const packages = ["@a2a-js/sdk@1.3.0", "express@5.3.0"] as const;

/** Starts all three; ours and the SDK's get so many tasks of the reader. */
export async function startHttpServers(folder: BenchFolder, tasks: number): Promise<HttpServers> {
  await using starting = new AsyncDisposableStack();
  const workspace = await folder.fresh();
  const { a2a, callersFile } = workspacePaths(workspace);
  await Deno.mkdir(a2a, { recursive: true });
  const callers = Object.entries(benchKeys).map(([name, key]) => ({ name, key }));
  await Deno.writeTextFile(callersFile, JSON.stringify(callers));
  const limits = ["concurrent-runs", "queued-runs", "stored-tasks"];
  const rates = ["requests-per-minute", "reads-per-minute", "turns-per-context"];
  const noLimits = [...limits, ...rates].flatMap((name) => [`--${name}`, "0"]);
  const address = await starting.use(startServe(workspace, ...noLimits, "--log-level", "warning")).address;
  const task = await fill(address, tasks);
  const page = await call(address, "ListTasks", { pageSize: 50, includeArtifacts: true });
  const answersFile = join(await folder.fresh(), "answers.json");
  await Deno.writeTextFile(answersFile, JSON.stringify({ task, page }));
  const hono = starting.use(startBenchProgram("./bare_hono.ts", [answersFile]));
  const sdk = await startSdk(await folder.fresh());
  if (typeof sdk !== "string") starting.use(sdk);
  const all = starting.move();
  return {
    ours: { address, taskId: task.id },
    hono: { address: await hono.said, taskId: task.id },
    sdk: typeof sdk === "string" ? sdk : {
      address: await sdk.said,
      taskId: (await fill(await sdk.said, tasks)).id,
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Gives the last of the tasks. */
async function fill(address: string, tasks: number): Promise<TaskJson> {
  let last: TaskJson | undefined;
  for (let number = 0; number < tasks; number++) {
    const message = { role: "ROLE_USER", messageId: `${number}`, contextId: "fill", parts: [{ text: "Hello" }] };
    ({ task: last } = await call(address, "SendMessage", { message }) as { task: TaskJson });
  }
  return last!;
}

async function call(address: string, method: string, params: unknown): Promise<unknown> {
  const headers = { "X-API-Key": benchKeys.reader, "A2A-Version": "1.0", "Content-Type": "application/json" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const { result, error } = await (await fetch(`${address}/a2a`, { method: "POST", headers, body })).json();
  if (result === undefined) throw new Error(`Cannot call ${method} at ${address}: ${JSON.stringify(error)}`);
  return result;
}

/** Installs the SDK and express into a folder and starts them; a text when that cannot be done here. */
async function startSdk(folder: string): Promise<ChildProgram | string> {
  const npm = new Deno.Command("npm", {
    args: ["install", "--no-audit", "--no-fund", "--prefix", folder, ...packages],
    signal: AbortSignal.timeout(npmMs),
    stdin: "null",
  });
  try {
    const { success, stderr } = await npm.output();
    if (!success) return `npm cannot install ${packages.join(" and ")}: ${new TextDecoder().decode(stderr).trim()}`;
  } catch (error) {
    return `npm cannot be started: ${(error as Error).message}`;
  }
  const program = new URL("./sdk_express.mjs", import.meta.url).pathname;
  const child = startChild("node", { args: [program, folder], env: { NODE_ENV: "production" } });
  try {
    await child.said;
    return child;
  } catch (error) {
    return (error as Error).message;
  }
}
