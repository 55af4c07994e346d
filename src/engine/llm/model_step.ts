import {
  type FinishReason,
  type LanguageModel,
  type LanguageModelUsage,
  type ModelMessage,
  streamText,
  type ToolSet,
} from "ai";
import type { Clock } from "@/time/clock.ts";
import { unlessAborted } from "@/time/unless_aborted.ts";
import { type ModelFailure, modelFailure } from "./model_failure.ts";
import { SilenceWatch } from "./silence_watch.ts";

/** One call of a model. */
export interface StepRequest {
  readonly model: LanguageModel;
  readonly instructions: string;
  readonly messages: readonly ModelMessage[];
  /** None of them executes by itself: the calls are given back. */
  readonly tools: ToolSet;
  readonly clock: Clock;
  /** The model may say nothing for so long. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  /** Takes the key out of a text. */
  readonly scrub: (text: string) => string;
}

/** A piece of what a model says. */
export interface StepDelta {
  readonly kind: "text" | "reasoning";
  readonly text: string;
}

/** A tool that the model calls. */
export interface ModelCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  /** Why it is none that can be made: an unknown tool, or input that does not fit. */
  readonly problem?: string;
}

/** How a call of a model ended. `said` is the text that came, also when it broke off. */
export type StepEnd =
  | {
    readonly kind: "said";
    readonly said: string;
    /** The assistant's message; none when it said nothing and called nothing. */
    readonly message: ModelMessage | undefined;
    readonly calls: readonly ModelCall[];
    readonly finishReason: FinishReason;
    readonly usage: TokenCount;
  }
  | { readonly kind: "failed"; readonly said: string; readonly failure: ModelFailure }
  | { readonly kind: "aborted"; readonly said: string };

/** Tokens of one call. */
export interface TokenCount {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/**
 * Calls a model once and yields what it says as it comes. Never throws for what the model, its server or the network does.
 *
 * The SDK fails in three ways: the stream throws when a connection is dropped, HTTP errors come to `onError`, and a stream
 * without a finish is a part of kind `error`; a silence that lasts too long and the caller's abort look the same to it
 * (engine.md 1). Nothing is tried again here.
 */
export async function* modelStep(request: StepRequest): AsyncGenerator<StepDelta, StepEnd, void> {
  using watch = new SilenceWatch(request);
  const reply = new Reply();
  try {
    const ended = yield* readReply(request, watch, reply);
    if (ended !== undefined) return ended;
  } catch (error) {
    reply.error ??= error;
  }
  const { said } = reply;
  if (request.signal.aborted) return { kind: "aborted", said };
  const failure = watch.isOver
    ? { message: silenceMessage(request.silenceMs), cause: new Error("The model was silent for too long") }
    : modelFailure(reply.error ?? new Error("The stream ended without a finish"), {
      now: request.clock.now(),
      scrub: request.scrub,
    });
  return { kind: "failed", said, failure };
}

/** What came so far. */
class Reply {
  said = "";
  readonly calls: ModelCall[] = [];
  error: unknown;
  finish:
    | { readonly reason: FinishReason; readonly raw: string | undefined; readonly usage: LanguageModelUsage }
    | undefined;
}

async function* readReply(
  { model, instructions, messages, tools, signal }: StepRequest,
  watch: SilenceWatch,
  reply: Reply,
): AsyncGenerator<StepDelta, StepEnd | undefined, void> {
  const stopped = AbortSignal.any([signal, watch.signal]);
  const result = streamText({
    ...{ model, tools, messages: [...messages], maxRetries: 0, abortSignal: stopped },
    instructions,
    providerOptions,
    maxOutputTokens: isAnthropic(model) ? anthropicOutputTokens : undefined,
    onError: ({ error }) => {
      reply.error = error;
    },
  });
  const parts = result.stream[Symbol.asyncIterator]();
  while (true) {
    const next = await unlessAborted(parts.next(), stopped);
    if (next === undefined) return undefined;
    if (next.done) break;
    watch.heard();
    const delta = takePart(next.value, reply);
    if (delta !== undefined) yield delta;
  }
  if (reply.error !== undefined || reply.finish === undefined || stopped.aborted) return undefined;
  if (!isWhole(reply.finish)) return undefined;
  const { response } = await result.finalStep;
  const { said, calls, finish } = reply;
  return {
    ...{ kind: "said", said, calls, finishReason: finish.reason, usage: countOf(finish.usage) },
    message: response.messages.find(({ role }) => role === "assistant"),
  };
}

/** A stream that was cut between two events ends without an error: what is missing is the provider's word for its end. */
function isWhole({ reason, raw }: NonNullable<Reply["finish"]>): boolean {
  return reason !== "error" && reason !== "interrupted" && !(reason === "other" && raw === undefined);
}

/** A part of the SDK's stream, as far as it is looked at. */
type Part = Awaited<
  ReturnType<ReturnType<ReturnType<typeof streamText>["stream"][typeof Symbol.asyncIterator]>["next"]>
>["value"];

function takePart(part: Part, reply: Reply): StepDelta | undefined {
  switch (part.type) {
    case "text-delta":
      reply.said += part.text;
      return { kind: "text", text: part.text };
    case "reasoning-delta":
      return { kind: "reasoning", text: part.text };
    case "tool-call":
      reply.calls.push({
        ...{ id: part.toolCallId, name: part.toolName, input: part.input },
        problem: part.invalid ? problemOf(part.error) : undefined,
      });
      return undefined;
    case "error":
      reply.error ??= part.error;
      return undefined;
    case "finish-step":
      reply.finish = { reason: part.finishReason, raw: part.rawFinishReason, usage: part.usage };
      return undefined;
    default:
      return undefined;
  }
}

function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error ?? "The call cannot be read");
}

function countOf({ inputTokens = 0, outputTokens = 0 }: LanguageModelUsage): TokenCount {
  return { inputTokens, outputTokens };
}

/** Anthropic must be told one, and models that the SDK does not know would get 4,096; others know better themselves. */
const anthropicOutputTokens = 32_000;

/** Anthropic caches what comes again when it is asked to; OpenAI keeps nothing when it is asked not to. */
const providerOptions = {
  anthropic: { cacheControl: { type: "ephemeral" } },
  openai: { store: false },
} as const;

function isAnthropic(model: LanguageModel): boolean {
  return typeof model !== "string" && model.provider.startsWith("anthropic");
}

function silenceMessage(silenceMs: number): string {
  const seconds = Math.round(silenceMs / 1000);
  return `The model said nothing for ${seconds >= 120 ? `${Math.round(seconds / 60)} minutes` : `${seconds} seconds`}`;
}
