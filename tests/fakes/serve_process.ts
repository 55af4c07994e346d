import manifest from "@manifest" with { type: "json" };
import { fileURLToPath } from "node:url";

/** The flags of the `start` task: the rights that a person gives. */
const rights = manifest.tasks.start.split(" ").filter((word) => word.startsWith("--"));
const program = fileURLToPath(new URL("./main.ts", import.meta.resolve("@manifest")));

/** How a process ended, and all that it said. */
export interface ServeEnd {
  readonly code: number;
  readonly signal: Deno.Signal | null;
  readonly out: string;
  readonly error: string;
}

/** The program as a process of its own. Disposing kills it. */
export interface ServeProcess extends AsyncDisposable {
  /** Its address, once it serves: `http://127.0.0.1:40001`. Rejects with what it said when it ends first. */
  readonly address: Promise<string>;
  readonly ended: Promise<ServeEnd>;
  readonly pid: number;
  kill(signal: Deno.Signal): void;
}

/** Runs `main.ts` with these arguments, as `deno task start` does. */
export function startProgram(args: readonly string[], env: Readonly<Record<string, string>> = {}): ServeProcess {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", ...rights, program, ...args],
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const address = Promise.withResolvers<string>();
  address.promise.catch(() => {}); // who does not ask for it does not care
  const out = collect(child.stdout, (text) => {
    const [, found] = /serves on (http:\S+?),?\s/.exec(text) ?? [];
    if (found !== undefined) address.resolve(found);
  });
  const ended = Promise.all([child.status, out, collect(child.stderr)]).then(([{ code, signal }, out, error]) => {
    address.reject(new Error(`It ended with ${code}: ${out}${error}`));
    return { code, signal, out, error };
  });
  const kill = (signal: Deno.Signal) => {
    try {
      child.kill(signal);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it ended by itself
    }
  };
  return {
    ...{ address: address.promise, ended, kill, pid: child.pid },
    async [Symbol.asyncDispose]() {
      kill("SIGKILL");
      await ended;
    },
  };
}

/** Serves a folder with the faux engine on a port that is free. */
export function startServe(folder: string, ...more: readonly string[]): ServeProcess {
  return startProgram(["serve", "--faux", "--workspace", folder, "--listen", "127.0.0.1:0", ...more]);
}

async function collect(stream: ReadableStream<Uint8Array<ArrayBuffer>>, look: (text: string) => void = () => {}) {
  let all = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    all += text;
    look(all);
  }
  return all;
}
