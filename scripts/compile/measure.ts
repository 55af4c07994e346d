/**
 * Measures the executable and prints what docs/operating/binary.md says of it: `deno task measure:binary`. Needs Linux. A
 * quiet machine tells more: everything is a median of so many starts, with the fastest and the slowest beside it.
 */
import { outputPath } from "./compile_arguments.ts";

const rounds = 20;
const port = 5198;
const card = `http://127.0.0.1:${port}/.well-known/agent-card.json`;

interface ServeRound {
  readonly firstAnswerMs: number;
  readonly idleBytes: number;
  readonly endMs: number;
}

/** From the start of the process to the last byte of the public card, and from SIGTERM to its end. */
async function serveRound(workspace: string): Promise<ServeRound> {
  const startMs = performance.now();
  await using host = new Deno.Command(outputPath, {
    args: ["serve", "--faux", "--listen", `127.0.0.1:${port}`, "--workspace", workspace],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  while (!await answers()) await new Promise((resolve) => setTimeout(resolve, 1));
  const firstAnswerMs = performance.now() - startMs;
  await new Promise((resolve) => setTimeout(resolve, 500));
  const idleBytes = await residentBytes(host.pid);
  const killMs = performance.now();
  host.kill("SIGTERM");
  const { code } = await host.status;
  if (code !== 0) throw new Error(`${outputPath} ended with ${code}`);
  return { firstAnswerMs, idleBytes, endMs: performance.now() - killMs };
}

async function answers(): Promise<boolean> {
  try {
    const response = await fetch(card);
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

async function residentBytes(pid: number): Promise<number> {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(await Deno.readTextFile(`/proc/${pid}/status`))!;
  return Number(kibibytes) * 1024;
}

async function commandMs(args: readonly string[]): Promise<number> {
  const startMs = performance.now();
  const { code } = await new Deno.Command(outputPath, { args: [...args], stdin: "null" }).output();
  if (code !== 0) throw new Error(`${outputPath} ${args.join(" ")} ended with ${code}`);
  return performance.now() - startMs;
}

async function repeat<T>(measure: () => Promise<T>): Promise<readonly T[]> {
  const results: T[] = [];
  for (let round = 0; round < rounds; round++) results.push(await measure());
  return results;
}

function spread(values: readonly number[], unit: string): string {
  const sorted = values.toSorted((a, b) => a - b).map((value) => Math.round(value));
  return `${sorted[sorted.length >> 1]} ${unit} (${sorted[0]} to ${sorted.at(-1)})`;
}

const workspace = await Deno.makeTempDir({ prefix: "volcanic-a2a-measure-" });
try {
  const megabytes = (await Deno.stat(outputPath)).size / 1e6;
  const version = await repeat(() => commandMs(["--version"]));
  const tried = await repeat(() => commandMs(["try", "hello", "--workspace", workspace]));
  const served = await repeat(() => serveRound(workspace));
  console.log(`size                          ${megabytes.toFixed(1)} MB`);
  console.log(`--version                     ${spread(version, "ms")}`);
  console.log(`try hello, stored on disk     ${spread(tried, "ms")}`);
  console.log(`serve, start to first answer  ${spread(served.map(({ firstAnswerMs }) => firstAnswerMs), "ms")}`);
  console.log(`serve, resident when idle     ${spread(served.map(({ idleBytes }) => idleBytes / 1e6), "MB")}`);
  console.log(`serve, SIGTERM to its end     ${spread(served.map(({ endMs }) => endMs), "ms")}`);
} finally {
  await Deno.remove(workspace, { recursive: true });
}
