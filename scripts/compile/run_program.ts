/** What to run, and with what. */
export interface ProgramRun {
  readonly program: string;
  readonly args: readonly string[];
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** After this long it is killed, which counts as a failure. */
  readonly timeoutMs: number;
}

/** How a program ended. */
export interface ProgramEnd {
  readonly success: boolean;
  readonly out: string;
  readonly error: string;
}

/** Runs a program without input to its end. Never rejects: one that cannot be started has failed, with the reason. */
export async function runProgram({ program, args, env, timeoutMs }: ProgramRun): Promise<ProgramEnd> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const command = new Deno.Command(program, { args: [...args], env, signal, stdin: "null" });
    const { success, stdout, stderr } = await command.output();
    const late = signal.aborted ? `\nIt was stopped after ${timeoutMs / 1000} s` : "";
    return { success, out: textOf(stdout), error: textOf(stderr) + late };
  } catch (error) {
    return { success: false, out: "", error: error instanceof Error ? error.message : String(error) };
  }
}

function textOf(bytes: Uint8Array): string {
  // deno-lint-ignore no-control-regex
  return new TextDecoder().decode(bytes).replaceAll(/\u001b\[[\d;]*m/g, "");
}
