import type { ModelMessage, ToolResultPart } from "ai";
import type { Conversation, EngineEvent, Prompt, TurnOutcome } from "@/engine/engine.ts";
import type { SessionPrograms } from "@/engine/programs.ts";
import type { Clock } from "@/time/clock.ts";
import { unlessAborted } from "@/time/unless_aborted.ts";
import { requestInputName } from "./caller_tools.ts";
import { engineInstructions } from "./engine_instructions.ts";
import { answeredCall } from "./history_messages.ts";
import { entriesOf } from "./message_entries.ts";
import type { ModelCall, StepEnd, StepRequest } from "./model_step.ts";
import type { ModelTool } from "./model_tool.ts";
import type { OpenedModel, OpenModel } from "./opened_model.ts";
import { retriedStep } from "./retried_step.ts";
import { sessionTools } from "./session_tools.ts";
import { messageWithFiles, promptFiles } from "./shown_files.ts";
import { summariseTurns } from "./summary.ts";
import { textTokens } from "./token_estimate.ts";
import { type CallResult, makeCalls, toolSet } from "./tool_calls.ts";
import { TurnMessages } from "./turn_messages.ts";

/** What one turn of a model is played with. */
export interface LlmTurnOptions {
  readonly prompt: Prompt;
  readonly conversation: Conversation;
  readonly programs: SessionPrograms | undefined;
  readonly clock: Clock;
  readonly openModel: OpenModel;
  /** The model did not take the key: the next `openModel` must look it up again. */
  readonly onKeyRefused: () => void;
  /** A model may say nothing for so long. */
  readonly silenceMs: number;
  /** The most calls of the model. */
  readonly stepsMax: number;
  /** Aborts at a cancel or a kill. */
  readonly signal: AbortSignal;
}

type Said = Extract<StepEnd, { readonly kind: "said" }>;
type Play<T> = AsyncGenerator<EngineEvent, T, void>;

const aborted: TurnOutcome = { kind: "aborted" };
/** Reasoning is shown in pieces of about this many characters. */
const asideChars = 2_000;

/**
 * One turn of a model: it is called, its tool calls are made, and so on until it calls none.
 *
 * What is said is noted before it is acted on: after a crash the conversation holds each call, if not its result.
 */
export class LlmTurn {
  readonly #options: LlmTurnOptions;
  #tools: readonly ModelTool[] = [];
  #instructions = "";
  #messages!: TurnMessages;
  /** The last message that was not empty. */
  #answer = "";
  /** Something was shown of a message that is over. */
  #shows = false;
  #startsMessage = false;

  constructor(options: LlmTurnOptions) {
    this.#options = options;
  }

  /** Yields what happens and returns how the turn ended. Throws for bugs, and when nothing can be noted. */
  async *play(): Play<TurnOutcome> {
    const { openModel, signal, stepsMax } = this.#options;
    const opened = await this.#unlessAborted(openModel(signal));
    if (opened === undefined) return aborted;
    if (opened.kind === "unavailable") return { kind: "failed", message: opened.message };
    if (!await this.#begin(opened)) return aborted;
    for (let step = 1; step <= stepsMax; step++) {
      const end = yield* this.#step(opened);
      if (end.kind !== "said") return end;
      const outcome = yield* this.#act(end);
      if (outcome !== undefined) return outcome;
    }
    const said = `(Stopped after ${stepsMax} steps: the work may not be done.)`;
    return { kind: "answered", text: this.#answer === "" ? said : `${this.#answer}\n\n${said}`, truncated: false };
  }

  /** Notes what this turn is about; false when it was aborted meanwhile. */
  async #begin({ files: takes, contextTokens }: OpenedModel): Promise<boolean> {
    const { prompt, conversation, programs } = this.#options;
    this.#tools = sessionTools(prompt, { programs, takes });
    this.#instructions = engineInstructions(prompt, this.#tools);
    const fixedTokens = textTokens(this.#instructions) + this.#tools.length * 150;
    this.#messages = new TurnMessages({ conversation, contextTokens, fixedTokens });
    const files = await this.#unlessAborted(promptFiles(prompt.files, { files: prompt.tools.files, takes }));
    if (files === undefined) return false;
    const toolCallId = answeredCall(conversation.turns, prompt);
    if (toolCallId === undefined) {
      const { message, noted } = messageWithFiles(prompt.framed, files);
      await this.#add(message, noted);
      return true;
    }
    const output = { type: "text", value: prompt.framed } as const;
    await this.#add({
      role: "tool",
      content: [{ type: "tool-result", toolCallId, toolName: requestInputName, output }],
    });
    await this.#show(files);
    return true;
  }

  /** Calls the model, with what room and what tries it takes. */
  async *#step(opened: OpenedModel): Play<Said | TurnOutcome> {
    this.#startsMessage = this.#shows;
    if (this.#messages.isFull && !(yield* this.#makeRoom(opened))) return aborted;
    for (let wasTooLong = false;; wasTooLong = true) {
      const end = yield* this.#call(opened);
      if (end.kind === "said") return end;
      if (end.said !== "") await this.#add({ role: "assistant", content: `${end.said}\n\n[interrupted]` });
      if (end.kind === "aborted") return aborted;
      const { message, cause, isTooLong, isKeyRefused } = end.failure;
      if (isKeyRefused) this.#options.onKeyRefused();
      if (!isTooLong || wasTooLong) return { kind: "failed", message, cause };
      this.#messages.wasTooMuch();
      if (!(yield* this.#makeRoom(opened))) return aborted;
    }
  }

  async *#call(opened: OpenedModel): Play<StepEnd> {
    const request = { instructions: this.#instructions, messages: this.#messages.all, tools: toolSet(this.#tools) };
    const step = retriedStep({ ...this.#stepOptions(opened), ...request });
    try {
      let reasoning = "";
      while (true) {
        const next = await step.next();
        const delta = next.done ? undefined : next.value;
        if (reasoning !== "" && (delta?.kind !== "reasoning" || reasoning.length >= asideChars)) {
          yield { kind: "aside", of: "reasoning", text: reasoning };
          reasoning = "";
        }
        if (next.done) {
          if (next.value.kind === "said") yield { kind: "usage", ...next.value.usage };
          return next.value;
        }
        if (delta?.kind === "reasoning") reasoning += delta.text;
        else if (delta?.kind === "again") this.#startsMessage = this.#shows;
        else if (delta?.kind === "text" && delta.text !== "") yield* this.#say(delta.text);
      }
    } finally {
      await step.return({ kind: "aborted", said: "" }); // who stops reading leaves no watch behind
    }
  }

  *#say(text: string): Generator<EngineEvent, void, void> {
    if (this.#startsMessage) yield { kind: "message" };
    this.#startsMessage = false;
    this.#shows = true;
    yield { kind: "text", text };
  }

  /** Does what the model's message asks for; returns how the turn ends, or undefined when it goes on. */
  async *#act({ said, message, calls, finishReason, usage }: Said): Play<TurnOutcome | undefined> {
    this.#messages.counted(usage.inputTokens);
    if (said.trim() !== "") this.#answer = said;
    if (message !== undefined) await this.#add(message);
    const isCut = finishReason === "length" || finishReason === "content-filter";
    if (calls.length === 0) {
      if (finishReason === "content-filter" && this.#answer === "") {
        return { kind: "failed", message: "The model's provider withheld the answer" };
      }
      return { kind: "answered", text: this.#answer, truncated: isCut };
    }
    const given = isCut ? calls.map((call) => ({ ...call, problem: call.problem ?? cutCall })) : calls;
    const question = given.findLast(({ name, problem }) => name === requestInputName && problem === undefined);
    const asks = (call: ModelCall) => question !== undefined && call.name === requestInputName;
    const results = yield* makeCalls(given.filter((call) => !asks(call)), this.#tools, this.#options.signal);
    const unasked = given.filter((call) => asks(call) && call !== question).map((call) => ({ call, ...onlyLast }));
    await this.#addResults([...results, ...unasked]);
    if (this.#options.signal.aborted) return aborted;
    if (question === undefined) return undefined;
    const { question: text } = question.input as { readonly question: string };
    this.#options.prompt.tools.requestInput!(text);
    return { kind: "asked", question: text, text: said };
  }

  async #addResults(results: readonly CallResult[]): Promise<void> {
    if (results.length === 0) return;
    const content = results.map((
      { call: { id: toolCallId, name: toolName }, text: value, isError },
    ): ToolResultPart => ({
      ...{ type: "tool-result", toolCallId, toolName },
      output: { type: isError ? "error-text" : "text", value },
    }));
    await this.#add({ role: "tool", content });
    await this.#show(results.flatMap(({ shows }) => shows === undefined ? [] : [shows]));
  }

  async #show(files: Parameters<typeof messageWithFiles>[1]): Promise<void> {
    if (files.length === 0) return;
    const names = files.map(({ path }) => path).join(", ");
    const { message, noted } = messageWithFiles(`Shown by the host: ${names}`, files);
    await this.#add(message, noted);
  }

  /** Summarises older turns, else leaves out what is long; false when the turn was aborted meanwhile. */
  async *#makeRoom(opened: OpenedModel): Play<boolean> {
    const { conversation } = this.#options;
    const count = this.#messages.olderTurns;
    if (count > 0) {
      const end = yield* summariseTurns(conversation, count, {
        ...this.#stepOptions(opened),
        contextTokens: opened.contextTokens,
      });
      if (end.kind === "aborted") return false;
      if (end.kind === "summarised") this.#messages.summarised();
      else yield { kind: "aside", of: "notice", text: `Older turns are left out: ${end.failure.message}` };
    }
    if (this.#messages.isFull) this.#messages.makeRoom();
    return true;
  }

  #stepOptions({ model, scrub }: OpenedModel): Pick<StepRequest, "model" | "scrub" | "clock" | "silenceMs" | "signal"> {
    const { clock, silenceMs, signal } = this.#options;
    return { model, scrub, clock, silenceMs, signal };
  }

  /** Notes a message, so that it is found again, and gives it to the model from now on. */
  async #add(message: ModelMessage, noted: ModelMessage = message): Promise<void> {
    for (const entry of entriesOf(noted)) await this.#options.conversation.note(entry);
    this.#messages.add(message);
  }

  /** What `work` gives; undefined once the turn is aborted, also when it then fails. */
  async #unlessAborted<T>(work: Promise<T>): Promise<T | undefined> {
    const { signal } = this.#options;
    try {
      return await unlessAborted(work, signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }
}

const cutCall = "The message was cut by its length limit before this call was whole; it was not made";
const onlyLast = { text: "Only one question can be asked at a time: the last one was", isError: true };
