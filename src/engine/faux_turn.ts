import type { Clock } from "@/time/clock.ts";
import { letOthersRun } from "@/time/event_loop.ts";
import type { Conversation, EngineEvent, PastTurn, Prompt, ToolResult, TurnOutcome } from "./engine.ts";
import { type FauxScript, parseFauxScript, streamChunk } from "./faux_script.ts";
import type { FilesRefused, ListResult, ReadResult } from "./session_files.ts";
import type { FauxStep } from "./faux_vocabulary.ts";

/** What one turn of the faux engine is played with. */
export interface FauxTurnOptions {
  readonly prompt: Prompt;
  readonly conversation: Conversation;
  readonly clock: Clock;
  /** The turn's own signal: a cancel. */
  readonly signal: AbortSignal;
  /** Aborts when the session is killed; looked at even after `ignore abort`. */
  readonly killed: AbortSignal;
}

/** How a step ends the turn; undefined when it goes on. `dropped`: without an end. */
type Ending = TurnOutcome | { readonly kind: "dropped" } | undefined;

type Play = AsyncGenerator<EngineEvent, Ending, void>;

/** After this many events in a row the event loop gets its turn. */
const eventsInARow = 2048;

/** One turn of the faux engine: the steps of its message, played in order. */
export class FauxTurn {
  readonly #options: FauxTurnOptions;
  readonly #script: FauxScript;
  readonly #answer = new AnswerText();
  /** Aborts at a cancel or a kill. */
  readonly #stopped: AbortSignal;
  #ignoresAbort = false;
  #truncated = false;
  #events = 0;

  constructor(options: FauxTurnOptions) {
    this.#options = options;
    this.#script = parseFauxScript(options.prompt.text);
    this.#stopped = AbortSignal.any([options.signal, options.killed]);
  }

  /** Yields the events; the last is `end`, unless the script drops it or the session is killed. */
  async *play(): AsyncGenerator<EngineEvent, void, void> {
    for (const step of this.#script.steps) {
      const ending = this.#isAborted ? aborted : yield* this.#obey(step);
      if (this.#options.killed.aborted || ending?.kind === "dropped") return;
      if (ending !== undefined) return yield { kind: "end", outcome: ending };
    }
    const outcome = this.#isAborted
      ? aborted
      : { kind: "answered", text: this.#answer.text, truncated: this.#truncated } as const;
    yield { kind: "end", outcome };
  }

  async *#obey(step: FauxStep): Play {
    switch (step.kind) {
      case "say":
        return yield* this.#say(step.text);
      case "stream":
        return yield* this.#stream(step.chunks, step.bytes);
      case "message":
        this.#answer.clear();
        return void (yield { kind: "message" });
      case "aside":
        return void (yield { kind: "aside", of: step.of, text: step.text });
      case "usage":
        return void (yield { kind: "usage", inputTokens: step.inputTokens, outputTokens: step.outputTokens });
      case "tool":
        return yield* this.#tool(step.name, step.summary);
      case "file":
        return yield* this.#file(step.name, step.content);
      case "send":
        return yield* this.#lent("send", this.#options.prompt.tools.send?.(step.path));
      case "read":
        return yield* this.#look("read", this.#options.prompt.tools.files?.read(step.path));
      case "list":
        return yield* this.#look("list", this.#options.prompt.tools.files?.list(step.path));
      case "write":
        return yield* this.#write(step.path, step.text);
      case "notify":
        return yield* this.#lent("notify", this.#options.prompt.tools.notifyOwner?.(step.text));
      case "wait":
        return await this.#wait(step.ms);
      case "hang":
        return await this.#hang();
      case "recall":
        return yield* this.#say(recallText(this.#options.conversation.turns));
      case "show prompt":
        return yield* this.#say(promptText(this.#options.prompt));
      case "ask":
        return yield* this.#ask(step.question);
      case "fail":
        return { kind: "failed", message: step.text };
      case "crash":
        throw new Error("The script says crash");
      case "drop":
        return { kind: "dropped" };
      case "truncated":
        this.#truncated = true;
        return;
      case "ignore abort":
        this.#ignoresAbort = true;
        return;
      case "silence":
        return; // seen before the first step
      default:
        return step satisfies never;
    }
  }

  get #isAborted(): boolean {
    return !this.#ignoresAbort && this.#options.signal.aborted;
  }

  /** What ends a wait now: a kill always, a cancel unless it is ignored. */
  get #waitEnd(): AbortSignal {
    return this.#ignoresAbort ? this.#options.killed : this.#stopped;
  }

  async *#say(line: string): Play {
    if (this.#script.silent) return undefined;
    if (++this.#events % eventsInARow === 0) await letOthersRun();
    yield { kind: "text", text: this.#answer.addLine(line) };
    return undefined;
  }

  async *#stream(chunks: number, bytes: number): Play {
    for (let number = 1; number <= chunks; number++) {
      if (++this.#events % eventsInARow === 0) await letOthersRun();
      if (this.#isAborted) return aborted;
      if (this.#script.silent) continue;
      const chunk = streamChunk(number, bytes);
      yield { kind: "text", text: number === 1 ? this.#answer.addLine(chunk) : this.#answer.add(chunk) };
    }
    return undefined;
  }

  async *#tool(name: string, summary: string): Play {
    yield { kind: "tool", name, phase: "start", summary };
    await this.#options.conversation.note({ tool: name, summary });
    yield { kind: "tool", name, phase: "end", summary };
    return undefined;
  }

  async *#file(name: string, content: string | number): Play {
    const { tools } = this.#options.prompt;
    if (!tools.write || !tools.send) return yield* this.#lent("file", undefined);
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : madeBytes(content);
    const written = await this.#until(tools.write(name, bytes));
    if (written === undefined) return aborted;
    if (written.kind === "refused") return yield* this.#say(`file refused: ${written.why}`);
    return yield* this.#lent("file", tools.send(written.path ?? name));
  }

  async *#ask(question: string): Play {
    const { tools } = this.#options.prompt;
    if (tools.requestInput === undefined) return yield* this.#lent("ask", undefined);
    tools.requestInput(question);
    return { kind: "asked", question, text: this.#answer.text };
  }

  /** Waits for what a tool does; a refusal, or a tool that was not lent, is a line of the answer. */
  async *#lent(word: string, work: Promise<ToolResult> | undefined): Play {
    if (work === undefined) return yield* this.#say(`${word} refused: there is no such tool in this session`);
    const result = await this.#until(work);
    if (result === undefined) return aborted;
    if (result.kind === "refused") return yield* this.#say(`${word} refused: ${result.why}`);
    return undefined;
  }

  async *#write(path: string, text: string): Play {
    const work = this.#options.prompt.tools.files?.write(path, text);
    if (work === undefined) return yield* this.#lent("write", undefined);
    const result = await this.#until(work);
    if (result === undefined) return aborted;
    return yield* this.#say(result.kind === "refused" ? `write refused: ${result.why}` : `wrote ${path}`);
  }

  /** Waits for what is read or listed, and answers with it. */
  async *#look(word: string, work: Promise<ReadResult | ListResult> | undefined): Play {
    if (work === undefined) return yield* this.#lent(word, undefined);
    const result = await this.#until(work);
    if (result === undefined) return aborted;
    return yield* this.#say(result.kind === "refused" ? `${word} refused: ${result.why}` : lookText(result));
  }

  async #wait(ms: number): Promise<Ending> {
    const end = this.#waitEnd;
    try {
      await this.#options.clock.sleep(ms, end);
      return undefined;
    } catch (error) {
      if (!end.aborted) throw error;
      return aborted;
    }
  }

  async #hang(): Promise<Ending> {
    await this.#until(new Promise<never>(() => {}));
    return aborted;
  }

  /** What `work` resolves to; undefined when the turn is stopped first. */
  #until<T>(work: Promise<T>): Promise<T | undefined> {
    const end = this.#waitEnd;
    return new Promise((resolve, reject) => {
      const onAbort = () => resolve(undefined);
      if (end.aborted) onAbort();
      end.addEventListener("abort", onAbort, { once: true });
      work.then(resolve, reject).finally(() => end.removeEventListener("abort", onAbort));
    });
  }
}

const aborted: TurnOutcome = { kind: "aborted" };

/** The text of one assistant message, gathered in time linear in its length and memory of about its length. */
class AnswerText {
  readonly #blocks: string[] = [];
  #pieces: string[] = [];

  get text(): string {
    return this.#blocks.join("") + this.#pieces.join("");
  }

  /** Adds `text` on a line of its own; returns what was added, line break and all. */
  addLine(text: string): string {
    return this.add(this.#pieces.length + this.#blocks.length === 0 ? text : `\n${text}`);
  }

  add(text: string): string {
    this.#pieces.push(text);
    // Many small strings cost several times their text: join them as they come.
    if (this.#pieces.length === 1024) this.#blocks.push(this.#pieces.splice(0).join(""));
    return text;
  }

  clear(): void {
    this.#blocks.length = 0;
    this.#pieces = [];
  }
}

const recallMax = 20;

function recallText(turns: readonly PastTurn[]): string {
  const count = `${turns.length} ${turns.length === 1 ? "turn" : "turns"} before this one`;
  const first = Math.max(0, turns.length - recallMax);
  const lines = turns.slice(first).map(({ text }, index) => {
    const line = text.trimStart().split(/\r?\n/, 1)[0] ?? "";
    return `${first + index + 1}. ${line.length > 80 ? `${line.slice(0, 80)}...` : line}`;
  });
  return [count, ...lines].join("\n");
}

function lookText(result: Exclude<ReadResult | ListResult, FilesRefused>): string {
  if (result.kind === "bytes") return `${result.bytes.length} bytes, ${result.mediaType}`;
  const text = result.kind === "text" ? result.text : result.names.join("\n");
  return result.isCut ? `${text}\n(it goes on)` : text || "(it is empty)";
}

function promptText({ framed, instructions }: Prompt): string {
  return `Instructions:\n${instructions}\nPrompt:\n${framed}`;
}

/** `count` bytes that are the same on every run and no text. */
function madeBytes(count: number): Uint8Array {
  const bytes = new Uint8Array(count);
  for (let index = 0; index < count; index++) bytes[index] = index % 251;
  return bytes;
}
