import type { ChildJob, ChildLine } from "@tests/kill/child_line.ts";

const program = new URL("./host_child.ts", import.meta.url).pathname;

/** A host in a process of its own. */
export interface Child extends AsyncDisposable {
  /** All whole lines, also those that are read after its end. */
  readonly lines: AsyncIterableIterator<ChildLine>;
  /** As `kill -9`: it does nothing more. */
  kill(): void;
  /** Tells it to end in order. */
  drain(graceMs: number): Promise<void>;
  /** Resolves when it is gone, with what it wrote to standard error. */
  readonly ended: Promise<{ readonly code: number; readonly isKilled: boolean; readonly errors: string }>;
}

/** Fetches what a child imports, so that starting one takes no longer than it must. */
export async function prepareChildren(): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), { args: ["cache", "--quiet", program] }).output();
  if (!success) throw new Error(`Cannot cache the child: ${new TextDecoder().decode(stderr)}`);
}

/** Starts a host with the rights of a host: its workspace, and to ask for free disk. */
export function startChild(job: ChildJob): Child {
  const rights = [`--allow-read=${job.workspace}`, `--allow-write=${job.workspace}`, "--allow-sys=statfs"];
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--quiet", "--cached-only", ...rights, program, JSON.stringify(job)],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    env: { NO_COLOR: "1" },
  }).spawn();
  const ended = Promise.all([process.status, new Response(process.stderr).text()]).then(([status, errors]) => ({
    code: status.code,
    isKilled: status.signal === "SIGKILL",
    errors,
  }));
  const input = process.stdin.getWriter();
  const kill = () => {
    try {
      process.kill("SIGKILL");
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it ended by itself
    }
  };
  return {
    lines: linesOf(process.stdout),
    kill,
    ended,
    async drain(graceMs) {
      await input.write(new TextEncoder().encode(String(graceMs))).catch(() => {});
    },
    async [Symbol.asyncDispose]() {
      kill();
      await ended;
      await input.close().catch(() => {});
    },
  };
}

/** A last line that a kill cut off was not said. */
async function* linesOf(output: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<ChildLine, void, void> {
  let rest = "";
  for await (const text of output.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    for (const line of lines) yield JSON.parse(line);
  }
}
