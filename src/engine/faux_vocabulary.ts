/** One word that the faux engine obeys. The guide's table (docs/guides/faux.md) is made from these rows. */
export interface FauxWord {
  /** As it is typed: lower case, at the start of a line. */
  readonly word: string;
  /** What follows the colon, in capitals what is to be replaced; "" for a word that stands alone. */
  readonly argument: string;
  /** What it does, one sentence without a full stop. */
  readonly does: string;
  /** One line that works. */
  readonly example: string;
  /** What a bad argument's answer says was expected. */
  readonly expects: string;
  /** The step for what follows the colon, trimmed; undefined when it is not what is expected. */
  readonly read: (rest: string) => FauxStep | undefined;
}

/** One thing that a scripted turn does. */
export type FauxStep =
  /** Text of the answer, on a line of its own. */
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "stream"; readonly chunks: number; readonly bytes: number }
  | { readonly kind: "message" }
  | { readonly kind: "aside"; readonly of: "reasoning" | "notice"; readonly text: string }
  | { readonly kind: "tool"; readonly name: string; readonly summary: string }
  | { readonly kind: "file"; readonly name: string; readonly content: string | number }
  | { readonly kind: "send"; readonly path: string }
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "list"; readonly path: string }
  | { readonly kind: "write"; readonly path: string; readonly text: string }
  | { readonly kind: "notify"; readonly text: string }
  | { readonly kind: "usage"; readonly inputTokens: number; readonly outputTokens: number }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "recall" }
  | { readonly kind: "show prompt" }
  | { readonly kind: "silence" }
  | { readonly kind: "truncated" }
  | { readonly kind: "ignore abort" }
  | { readonly kind: "ask"; readonly question: string }
  | { readonly kind: "fail"; readonly text: string }
  | { readonly kind: "crash" }
  | { readonly kind: "drop" }
  | { readonly kind: "hang" };

/** The most chunks one `stream` line makes. */
export const chunksMax = 1_000_000;
/** The most bytes that all `stream` lines of one message make together. */
export const streamBytesMax = 8 * 1024 * 1024;
/** The most bytes one `file` line makes. */
export const fileBytesMax = 64 * 1024 * 1024;
/** The longest `wait`. */
export const waitMsMax = 24 * 60 * 60 * 1000;

/** Bytes of a chunk when the line does not say. */
const chunkBytes = 12;

/** Every word that the faux engine obeys, in the order the guide shows them (product.md §8). */
export const fauxVocabulary: readonly FauxWord[] = [
  {
    word: "say",
    argument: "TEXT",
    does: "Adds a line to the answer, also when it looks like another word of this table",
    example: "say: ask: is text here",
    expects: "text",
    read: (text) => text === "" ? undefined : { kind: "say", text },
  },
  {
    word: "stream",
    argument: "N or N x BYTES",
    does:
      "Streams N chunks of text, each with its number, 12 bytes long unless told; up to 1000000 chunks, 8 MiB a message",
    example: "stream: 3 x 8",
    expects:
      "N or N x BYTES: 1 to 1000000 chunks, 8 MiB in the whole message, BYTES at least one more than the digits of N",
    read: readStream,
  },
  {
    word: "message",
    argument: "",
    does: "Starts a new message of the assistant: what follows replaces the answer so far",
    example: "message",
    expects: "nothing behind it",
    read: alone({ kind: "message" }),
  },
  {
    word: "think",
    argument: "TEXT",
    does: "Shows the owner a line of reasoning; never part of the answer",
    example: "think: the caller wants a table",
    expects: "text",
    read: (text) => text === "" ? undefined : { kind: "aside", of: "reasoning", text },
  },
  {
    word: "notice",
    argument: "TEXT",
    does: "Shows the owner a notice; never part of the answer",
    example: "notice: the model is slow today",
    expects: "text",
    read: (text) => text === "" ? undefined : { kind: "aside", of: "notice", text },
  },
  {
    word: "tool",
    argument: "NAME SUMMARY",
    does: "Shows the owner a tool at work, its start and its end; nothing is done",
    example: "tool: search three files match",
    expects: "NAME SUMMARY",
    read: (rest) => withName(rest, (name, summary) => summary === "" ? undefined : { kind: "tool", name, summary }),
  },
  {
    word: "file",
    argument: "NAME TEXT or NAME N bytes",
    does: "Writes a file into the session's own folder and sends it: the text, or N made bytes (up to 64 MiB)",
    example: "file: report.txt all is well",
    expects: "NAME TEXT, or NAME N bytes with N up to 67108864",
    read: readFile,
  },
  {
    word: "send",
    argument: "PATH",
    does: "Sends a file of the workspace to the caller",
    example: "send: notes/today.md",
    expects: "a path from the workspace's root",
    read: (path) => path === "" ? undefined : { kind: "send", path },
  },
  {
    word: "read",
    argument: "PATH",
    does: "Answers with a file of the workspace, as this session may see it",
    example: "read: notes/today.md",
    expects: "a path from the workspace's root",
    read: (path) => path === "" ? undefined : { kind: "read", path },
  },
  {
    word: "list",
    argument: "PATH",
    does: "Answers with the names in a folder of the workspace, as this session may see it; `.` is the workspace",
    example: "list: notes",
    expects: "a path from the workspace's root, or . for the root",
    read: (path) => path === "" ? undefined : { kind: "list", path },
  },
  {
    word: "write",
    argument: "PATH TEXT",
    does: "Writes a file of the workspace, where this session may, and answers that it did",
    example: "write: notes/today.md all is well",
    expects: "PATH TEXT",
    read: (rest) => withName(rest, (path, text) => ({ kind: "write", path, text })),
  },
  {
    word: "notify",
    argument: "TEXT",
    does: "Tells the owner",
    example: "notify: the order has come",
    expects: "text",
    read: (text) => text === "" ? undefined : { kind: "notify", text },
  },
  {
    word: "usage",
    argument: "IN OUT",
    does: "Reports tokens used",
    example: "usage: 1200 80",
    expects: "two whole numbers, IN and OUT, up to 1000000000",
    read: readUsage,
  },
  {
    word: "wait",
    argument: "TIME",
    does: "Waits, up to 24h; a cancel ends it",
    example: "wait: 2s",
    expects: "a time like 500ms, 2s, 3m or 1h, up to 24h",
    read: readWait,
  },
  {
    word: "recall",
    argument: "",
    does: "Answers how many turns this conversation had before and the first line of each (the last 20)",
    example: "recall",
    expects: "nothing behind it",
    read: alone({ kind: "recall" }),
  },
  {
    word: "show prompt",
    argument: "",
    does: "Answers what a model would be given: the framed message and the instructions",
    example: "show prompt",
    expects: "nothing behind it",
    read: alone({ kind: "show prompt" }),
  },
  {
    word: "silence",
    argument: "",
    does: "Makes the answer empty, whatever the other lines say: no text is streamed and none is at the end",
    example: "silence",
    expects: "nothing behind it",
    read: alone({ kind: "silence" }),
  },
  {
    word: "truncated",
    argument: "",
    does: "Marks the answer as cut by the model's length limit",
    example: "truncated",
    expects: "nothing behind it",
    read: alone({ kind: "truncated" }),
  },
  {
    word: "ask",
    argument: "QUESTION",
    does: "Ends the turn with a question to the caller",
    example: "ask: Which colour?",
    expects: "a question",
    read: (question) => question === "" ? undefined : { kind: "ask", question },
  },
  {
    word: "fail",
    argument: "TEXT",
    does: "Ends the turn as failed, with this text for the caller",
    example: "fail: the model said no",
    expects: "text",
    read: (text) => text === "" ? undefined : { kind: "fail", text },
  },
  {
    word: "crash",
    argument: "",
    does: "Throws, as a bug in an engine would",
    example: "crash",
    expects: "nothing behind it",
    read: alone({ kind: "crash" }),
  },
  {
    word: "drop",
    argument: "",
    does: "Stops without an end, as an engine whose process died would",
    example: "drop",
    expects: "nothing behind it",
    read: alone({ kind: "drop" }),
  },
  {
    word: "hang",
    argument: "",
    does: "Does nothing more until it is cancelled",
    example: "hang",
    expects: "nothing behind it",
    read: alone({ kind: "hang" }),
  },
  {
    word: "ignore abort",
    argument: "",
    does: "Does not look at a cancel from here on; it can only be killed",
    example: "ignore abort",
    expects: "nothing behind it",
    read: alone({ kind: "ignore abort" }),
  },
];

function alone(step: FauxStep): FauxWord["read"] {
  return (rest) => rest === "" ? step : undefined;
}

function withName(rest: string, make: (name: string, more: string) => FauxStep | undefined): FauxStep | undefined {
  const [, name, more] = /^(\S+)\s*(.*)$/s.exec(rest) ?? [];
  return name === undefined ? undefined : make(name, more ?? "");
}

function readStream(rest: string): FauxStep | undefined {
  const [, first, second] = /^(\d{1,7})(?:\s*x\s*(\d{1,7}))?$/.exec(rest) ?? [];
  if (first === undefined) return undefined;
  const chunks = Number(first);
  const bytes = second === undefined ? chunkBytes : Number(second);
  const fits = chunks >= 1 && chunks <= chunksMax && bytes > String(chunks).length && chunks * bytes <= streamBytesMax;
  return fits ? { kind: "stream", chunks, bytes } : undefined;
}

function readFile(rest: string): FauxStep | undefined {
  return withName(rest, (name, content) => {
    const [, digits] = /^(\d+) bytes$/.exec(content) ?? [];
    if (digits === undefined) return { kind: "file", name, content };
    const bytes = Number(digits);
    return bytes <= fileBytesMax ? { kind: "file", name, content: bytes } : undefined;
  });
}

function readUsage(rest: string): FauxStep | undefined {
  const [, input, output] = /^(\d{1,10})\s+(\d{1,10})$/.exec(rest) ?? [];
  const [inputTokens, outputTokens] = [Number(input), Number(output)];
  return inputTokens <= 1e9 && outputTokens <= 1e9 ? { kind: "usage", inputTokens, outputTokens } : undefined;
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

function readWait(rest: string): FauxStep | undefined {
  const [, amount, unit] = /^(\d{1,9}(?:\.\d{1,3})?)\s*(ms|s|m|h)$/.exec(rest) ?? [];
  const ms = Number(amount) * (unitMs[unit ?? ""] ?? NaN);
  return ms <= waitMsMax ? { kind: "wait", ms } : undefined;
}
