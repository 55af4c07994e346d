import { type Engine, type EngineEvent, EngineUnavailable, type Prompt } from "./engine.ts";
import type { Program, SessionPrograms } from "./programs.ts";
import { createTurnEngine } from "./turn_sessions.ts";

/** What the exec engine needs. */
export interface ExecEngineOptions {
  /** The program and its arguments. */
  readonly command: readonly string[];
}

/** A reply that is longer is cut: it is text for a person. */
const replyCharsMax = 4 * 1024 * 1024;
/** What of the standard error is kept, for the owner's log. */
const errorCharsMax = 4_000;

/**
 * Makes the engine that is any command (product.md §8): each turn starts it anew in the session's box, with the instructions and
 * the framed prompt on its standard input; what it puts out is the reply. What it wants to know again it keeps in `/session`.
 *
 * Another exit code than 0 is a failure; what it said on its standard error goes to the log alone, without what looks like a secret.
 */
export function createExecEngine({ command }: ExecEngineOptions): Engine {
  return createTurnEngine("exec", ({ programs }) => {
    if (programs === undefined) {
      throw new EngineUnavailable("This agent cannot work now: there is no box for its programs");
    }
    return (prompt, { signal, killed }) =>
      playTurn({ command, programs, prompt, over: AbortSignal.any([signal, killed]) });
  });
}

interface ExecTurn {
  readonly command: readonly string[];
  readonly programs: SessionPrograms;
  readonly prompt: Prompt;
  readonly over: AbortSignal;
}

async function* playTurn({ command, programs, prompt, over }: ExecTurn): AsyncGenerator<EngineEvent, void, void> {
  const started = await programs.start({ kind: "engine", command, timeoutMs: Infinity, keepsFolder: true }, over);
  if (over.aborted) {
    yield { kind: "end", outcome: { kind: "aborted" } };
  } else if (started.kind === "refused") {
    yield { kind: "end", outcome: { kind: "failed", message: started.why } };
  } else {
    await using program = started;
    yield* runTurn(program, { prompt, over });
  }
}

async function* runTurn(
  program: Program,
  { prompt, over }: { readonly prompt: Prompt; readonly over: AbortSignal },
): AsyncGenerator<EngineEvent, void, void> {
  const said = lastOf(program.stderr);
  void give(program.stdin, `${prompt.instructions}\n\n${prompt.framed}\n`.trimStart());
  const decoder = new TextDecoder();
  let text = "";
  let isCut = false;
  try {
    for await (const chunk of program.stdout) {
      const more = decoder.decode(chunk, { stream: true }).slice(0, replyCharsMax - text.length);
      text += more;
      isCut ||= text.length === replyCharsMax;
      if (more !== "" && !over.aborted) yield { kind: "text", text: more };
    }
  } catch {
    // Cut off: how it ended says why.
  }
  const end = await program.ended;
  const error = scrubbed(await said);
  if (over.aborted) {
    yield { kind: "end", outcome: { kind: "aborted" } };
  } else if (end.code === 0 && end.because === undefined) {
    yield { kind: "end", outcome: { kind: "answered", text: text.trimEnd(), truncated: isCut } };
  } else {
    const why = end.because === undefined ? `with exit code ${end.code}` : becauseText[end.because];
    const cause = new Error(`The command ended ${why}${error === "" ? "" : `: ${error}`}`);
    yield { kind: "end", outcome: { kind: "failed", message: `The agent's program ended ${why}.`, cause } };
  }
}

const becauseText = {
  time: "because it ran too long",
  memory: "because it used too much memory",
  disk: "because the disk room of this caller is used up",
  output: "because it put out too much",
  killed: "early",
  "host ends": "with the host",
} as const;

/** A program that does not read its input, or is gone, is not to blame for that. */
async function give(stdin: WritableStream<Uint8Array>, text: string): Promise<void> {
  try {
    const writer = stdin.getWriter();
    await writer.write(new TextEncoder().encode(text));
    await writer.close();
  } catch {
    // It ended before it read all.
  }
}

/** The last characters of a stream. Never rejects. */
async function lastOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of stream) text = (text + decoder.decode(chunk, { stream: true })).slice(-errorCharsMax);
  } catch {
    // Cut off.
  }
  return text.trim();
}

/** Cuts what looks like a secret: long words of letters and digits, what follows `key=` and its like, passwords in URLs. */
function scrubbed(text: string): string {
  return text
    .replace(/\b(key|token|secret|password|passwd|authorization|bearer)\b(["']?\s*[:=]?\s*)\S+/gi, "$1$2[cut]")
    .replace(/(?<=:\/\/)[^\s/@]+@/g, "[cut]@")
    .replace(/[A-Za-z0-9_+=-]{24,}/g, "[cut]");
}
