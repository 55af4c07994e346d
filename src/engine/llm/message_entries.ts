import type { ModelMessage } from "ai";

/** A message as a transcript has it: the SDK's own form. A long one is several entries, all but the first `continued`. */
export type MessageEntry = ModelMessage & {
  /** It goes behind the entry before; `text`: its first text goes behind the last text there. */
  readonly continued?: "part" | "text";
};

/** Characters of JSON of one entry: far below a line's 1 MiB, with three bytes a character. */
const entryCharsMax = 256 * 1024;
/** Characters of a text in a call's input that does not fit otherwise. */
const inputCharsMax = 16 * 1024;

/** Returns a message as the entries that are noted of it, each of which fits in a line of a transcript. */
export function entriesOf(message: ModelMessage): readonly MessageEntry[] {
  if (JSON.stringify(message).length <= entryCharsMax) return [message];
  const parts: readonly Part[] = typeof message.content === "string"
    ? [{ type: "text", text: message.content }]
    : message.content as readonly Part[];
  const entries: MessageEntry[] = [];
  let gathered: Part[] = [];
  let chars = 0;
  let continued: MessageEntry["continued"];
  const close = (next: MessageEntry["continued"]) => {
    if (gathered.length > 0) entries.push(entry(message, gathered, entries.length === 0 ? undefined : continued));
    [gathered, chars, continued] = [[], 0, next];
  };
  for (const part of parts.map(shrunk)) {
    for (const [index, piece] of pieces(part).entries()) {
      const pieceChars = JSON.stringify(piece).length;
      if (index > 0) close("text");
      else if (chars + pieceChars > entryCharsMax) close("part");
      gathered.push(piece);
      chars += pieceChars;
    }
  }
  close(undefined);
  return entries;
}

/** Returns the messages behind entries; what is none of ours is left out. Never throws. */
export function messagesOf(entries: readonly unknown[]): ModelMessage[] {
  const messages: ModelMessage[] = [];
  for (const entry of entries) {
    if (!isEntry(entry)) continue;
    const { continued, ...message } = entry;
    const before = messages.at(-1);
    if (continued === undefined || before?.role !== message.role) messages.push(message);
    else messages[messages.length - 1] = joined(before, message, continued);
  }
  return messages;
}

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly input?: unknown;
}

function entry(message: ModelMessage, content: readonly Part[], continued: MessageEntry["continued"]): MessageEntry {
  const whole = { ...message, content } as MessageEntry;
  return continued === undefined ? whole : { ...whole, continued };
}

function shrunk(part: Part): Part {
  if (part.type !== "tool-call" || JSON.stringify(part.input ?? null).length <= entryCharsMax / 2) return part;
  return { ...part, input: cutTexts(part.input) };
}

function cutTexts(value: unknown): unknown {
  if (typeof value === "string") {
    return value.length <= inputCharsMax ? value : `${value.slice(0, inputCharsMax)} [cut: ${value.length} characters]`;
  }
  if (Array.isArray(value)) return value.slice(0, 100).map(cutTexts);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).slice(0, 100).map(([name, inner]) => [name, cutTexts(inner)]));
}

function pieces(part: Part): readonly Part[] {
  const { text } = part;
  const size = entryCharsMax / 2;
  if (text === undefined || part.type !== "text" || text.length <= size) return [part];
  return Array.from(
    { length: Math.ceil(text.length / size) },
    (_, index) => ({ ...part, text: text.slice(index * size, (index + 1) * size) }),
  );
}

function joined(before: ModelMessage, next: ModelMessage, continued: "part" | "text"): ModelMessage {
  const head = [...partsOf(before)];
  const [first, ...rest] = partsOf(next);
  const last = head.at(-1);
  if (continued === "text" && last?.type === "text" && first?.type === "text") {
    head[head.length - 1] = { ...last, text: `${last.text}${first.text}` };
    return { ...before, content: [...head, ...rest] } as ModelMessage;
  }
  return { ...before, content: [...head, ...partsOf(next)] } as ModelMessage;
}

function partsOf({ content }: ModelMessage): readonly Part[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content as readonly Part[];
}

function isEntry(value: unknown): value is MessageEntry {
  if (typeof value !== "object" || value === null) return false;
  const { role, content } = value as { role?: unknown; content?: unknown };
  if (role !== "user" && role !== "assistant" && role !== "tool") return false;
  if (typeof content === "string") return role !== "tool";
  return Array.isArray(content) && content.every((part) => typeof part?.type === "string");
}
