import type { Program, ProgramEnd, ProgramRequest, SessionPrograms } from "@/engine/programs.ts";

/** What a program does in a test. */
export interface ScriptedProgram {
  /** What it writes, in this order, to standard output or, with `error`, to standard error. */
  readonly writes?: readonly (string | { readonly error: string })[];
  /** How it ends; "never": it is at work until it is killed. */
  readonly end?: ProgramEnd | "never";
}

/** Programs that do what a test says, for the command that they are started with. */
export interface ScriptedPrograms extends SessionPrograms {
  readonly started: readonly ProgramRequest[];
  /** How many were killed. */
  readonly killed: number;
}

/** Makes what starts programs: `script` says what a command does, or why it is refused. */
export function scriptedPrograms(script: (command: string) => ScriptedProgram | string): ScriptedPrograms {
  const started: ProgramRequest[] = [];
  let killed = 0;
  return {
    started,
    get killed() {
      return killed;
    },
    start(request, signal) {
      started.push(request);
      const program = script(request.command.at(-1)!);
      if (typeof program === "string") return Promise.resolve({ kind: "refused", why: program });
      return Promise.resolve(play(program, signal, () => killed++));
    },
  };
}

function play({ writes = [], end = { code: 0 } }: ScriptedProgram, signal: AbortSignal, onKill: () => void): Program {
  const ended = Promise.withResolvers<ProgramEnd>();
  const out = new TransformStream<Uint8Array<ArrayBuffer>>();
  const error = new TransformStream<Uint8Array<ArrayBuffer>>();
  const writers = { out: out.writable.getWriter(), error: error.writable.getWriter() };
  let isOver = false;
  const kill = () => {
    if (isOver) return;
    onKill();
    over({ code: 137, because: "killed" });
  };
  const over = (how: ProgramEnd) => {
    isOver = true;
    ended.resolve(how);
    for (const writer of Object.values(writers)) void writer.close().catch(() => {});
  };
  void (async () => {
    for (const write of writes) {
      const [writer, text] = typeof write === "string" ? [writers.out, write] : [writers.error, write.error];
      await writer.write(new TextEncoder().encode(text));
    }
    if (end !== "never") over(end);
  })();
  signal.addEventListener("abort", kill);
  return {
    kind: "program",
    stdin: new WritableStream(),
    stdout: out.readable,
    stderr: error.readable,
    ended: ended.promise,
    kill,
    async [Symbol.asyncDispose]() {
      kill();
      await ended.promise;
    },
  };
}
