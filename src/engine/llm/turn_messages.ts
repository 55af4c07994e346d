import type { ModelMessage, ToolModelMessage } from "ai";
import type { Conversation } from "@/engine/engine.ts";
import { historyMessages } from "./history_messages.ts";
import { orderedMessages } from "./message_order.ts";
import { messageTokens } from "./token_estimate.ts";

/** The share of the context that the messages may fill, the rest being for the answer and for what was estimated too low. */
const fullShare = 0.8;
/** The share that turns which are not summarised may fill. */
const keptShare = 0.25;
/** Messages at the end whose outputs are never left out. */
const untouched = 4;
/** Outputs of fewer characters are not worth leaving out. */
const shortChars = 1_000;

/** What a turn's messages are measured against. */
export interface TurnMessagesOptions {
  readonly conversation: Conversation;
  readonly contextTokens: number;
  /** Of the instructions and the tools. */
  readonly fixedTokens: number;
}

/** The messages that a model is given in one turn: what was said before it, and what was said in it. */
export class TurnMessages {
  readonly #options: TurnMessagesOptions;
  readonly #running: ModelMessage[] = [];
  #before: ModelMessage[];
  /** How many of the oldest turns are left out, without a summary. */
  #omitted = 0;
  /** What a provider counted, by what was estimated. */
  #factor = 1;
  #estimated = 0;

  constructor(options: TurnMessagesOptions) {
    this.#options = options;
    this.#before = historyMessages(options.conversation);
  }

  /** Adds a message of this turn. */
  add(message: ModelMessage): void {
    this.#running.push(message);
  }

  /** All messages, as a provider takes them. */
  get all(): readonly ModelMessage[] {
    const all = orderedMessages([...this.#before, ...this.#running]);
    this.#estimated = this.#options.fixedTokens + messageTokens(all);
    return all;
  }

  /** The provider counted so many tokens for the messages that `all` gave last. */
  counted(inputTokens: number): void {
    if (inputTokens > 0 && this.#estimated > 0) {
      this.#factor = Math.min(3, Math.max(0.5, inputTokens / this.#estimated));
    }
  }

  /** The provider says that it is too much, whatever was estimated. */
  wasTooMuch(): void {
    const { contextTokens } = this.#options;
    this.#factor = Math.max(this.#factor * 1.5, contextTokens / Math.max(1, this.#estimated));
  }

  /** Says whether there is too little room for an answer. */
  get isFull(): boolean {
    const { contextTokens, fixedTokens } = this.#options;
    const tokens = fixedTokens + messageTokens(this.#before) + messageTokens(this.#running);
    return tokens * this.#factor > contextTokens * fullShare;
  }

  /** How many of the oldest turns are to be summarised; 0 when there is none besides what stays. The newest always stays. */
  get olderTurns(): number {
    const { conversation: { turns }, contextTokens } = this.#options;
    let room = contextTokens * keptShare / this.#factor;
    let kept = 0;
    for (const turn of turns.toReversed()) {
      room -= messageTokens(historyMessages({ turns: [turn] }));
      if (room < 0 && kept > 0) break;
      kept++;
    }
    return turns.length - kept;
  }

  /** The conversation's older turns have a summary now. */
  summarised(): void {
    this.#omitted = 0;
    this.#before = historyMessages(this.#options.conversation);
  }

  /** Leaves out what is long and old: first outputs of tools, then the oldest turns, until there is room. For this turn only. */
  makeRoom(): void {
    this.#before = this.#before.map(withoutOutputs);
    const end = Math.max(0, this.#running.length - untouched);
    for (let index = 0; index < end && this.isFull; index++) {
      this.#running[index] = withoutOutputs(this.#running[index]!);
    }
    const { turns, summary } = this.#options.conversation;
    while (this.isFull && this.#omitted < turns.length - 1) {
      this.#omitted++;
      this.#before = historyMessages({ summary, turns: turns.slice(this.#omitted) }).map(withoutOutputs);
    }
  }
}

/** A message without the long outputs and the files in it. */
function withoutOutputs(message: ModelMessage): ModelMessage {
  if (message.role === "tool") return { ...message, content: message.content.map(withoutOutput) };
  if (message.role !== "user" || typeof message.content === "string") return message;
  return {
    ...message,
    content: message.content.map((part) =>
      part.type === "text" ? part : { type: "text", text: "[a file was shown here]" } as const
    ),
  };
}

function withoutOutput(part: ToolModelMessage["content"][number]): ToolModelMessage["content"][number] {
  if (part.type !== "tool-result") return part;
  const { output } = part;
  if (!("value" in output) || typeof output.value !== "string" || output.value.length <= shortChars) return part;
  const value = `${output.value.slice(0, shortChars / 4)}\n[left out to save room: ${output.value.length} characters]`;
  return { ...part, output: { ...output, value } as typeof output };
}
