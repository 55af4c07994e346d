/** A program that serves something, in a process of its own. Disposing kills it. */
export interface ChildProgram extends AsyncDisposable {
  /** What it said first: where it serves. Rejects when it ends before. */
  readonly said: Promise<string>;
}

/** Starts a program that says where it serves as the only line of its output. */
export function startChild(program: string, options: Pick<Deno.CommandOptions, "args" | "env">): ChildProgram {
  const child = new Deno.Command(program, { ...options, stdin: "null", stdout: "piped", stderr: "inherit" }).spawn();
  const said = (async () => {
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const { value } = await reader.read();
    await reader.cancel();
    if (value === undefined) throw new Error(`${program} ended before it served`);
    return value.trim();
  })();
  return {
    said,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
    },
  };
}

/** Starts a program of this folder under Deno. */
export function startBenchProgram(file: string, args: readonly string[]): ChildProgram {
  const program = new URL(file, import.meta.url).pathname;
  return startChild(Deno.execPath(), { args: ["run", "-A", "--no-prompt", program, ...args] });
}
