import { isoTime } from "@/time/clock.ts";
import { cutText } from "./cut_text.ts";
import * as entries from "./json_entries.ts";

/** What we follow: one remote task, or a send whose task is not known yet (data-model.md 4). */
export interface PendingRecord {
  readonly watchId: string;
  /** `owner`, `mcp`, `cli` or `telegram:<chatId>`. */
  readonly target: string;
  readonly agent: string;
  /** Null while the send is under way, or its reply is lost. */
  readonly taskId: string | null;
  readonly contextId: string | null;
  /** 64 hex digits; what a wake must show. */
  readonly pushToken: string | null;
  readonly startedAt: string;
  readonly source: "push" | "subscribe" | "poll";
  /** The text to deliver, at most 60 KB; null while the task runs. */
  readonly undelivered: string | null;
  /** Set before the send leaves, so that a lost reply can be looked for. */
  readonly messageId?: string;
  /** `scheme://host:port`: where the agent's key may go. */
  readonly origin?: string;
  readonly hops?: number;
  /** Deliveries that were begun: from the second on they are marked. */
  readonly attempts?: number;
  readonly finishedAt?: string;
}

/** The longest kept result, in bytes of UTF-8 (data-model.md 4). */
export const undeliveredBytesMax = 60 * 1024;

/**
 * Reads one entry of `pending.json` in today's form: fields that 000 does not have may be absent, a bare number as target
 * is a Telegram chat, times with an offset come out in UTC. `why` says what is wrong with a bad one, without its values.
 */
export function readPendingRecord(json: unknown): PendingRecord | { readonly why: string } {
  if (!entries.isObject(json)) return { why: "it must be an object" };
  const broken = entries.brokenRule(json, rules);
  if (broken) return { why: broken };
  const field = <T>(name: string) => entries.fieldOf(json, name) as T | undefined;
  if (field("taskId") === undefined && field("messageId") === undefined) {
    return { why: 'it must have a "taskId" or a "messageId"' };
  }
  const time = (name: string) => {
    const at = entries.readMoment(field(name));
    return at === undefined ? undefined : isoTime(at);
  };
  const optional = {
    messageId: field<string>("messageId"),
    origin: field<string>("origin"),
    hops: field<number>("hops"),
    attempts: field<number>("attempts"),
    finishedAt: time("finishedAt"),
  };
  return storedRecord({
    watchId: field<string>("watchId")!,
    target: readTarget(field("target"))!,
    agent: field<string>("agent")!,
    taskId: field<string>("taskId") ?? null,
    contextId: field<string>("contextId") ?? null,
    pushToken: field<string>("pushToken") ?? null,
    startedAt: time("startedAt")!,
    source: field<PendingRecord["source"]>("source")!,
    undelivered: field<string>("undelivered") ?? null,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  });
}

/** The record as it is stored: its text cut at 60 KB. */
export function storedRecord(record: PendingRecord): PendingRecord {
  return record.undelivered === null
    ? record
    : { ...record, undelivered: cutText(record.undelivered, undeliveredBytesMax) };
}

const count: entries.FieldRule = {
  expects: "a whole number from 0",
  fits: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
};

const rules: Readonly<Record<string, entries.FieldRule>> = {
  watchId: {
    expects: "a UUID",
    required: true,
    fits: (value) => matches(value, /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i),
  },
  target: {
    expects: '"owner", "mcp", "cli", "telegram:<chat>" or the number of a chat',
    required: true,
    fits: (value) => readTarget(value) !== undefined,
  },
  agent: { ...entries.text(1, 2048), required: true },
  taskId: entries.text(1, 1000),
  contextId: entries.text(1, 1000),
  pushToken: { expects: "64 hex digits", fits: (value) => matches(value, /^[0-9a-f]{64}$/i) },
  startedAt: { ...entries.moment, required: true },
  source: { ...entries.oneOf("push", "subscribe", "poll"), required: true },
  undelivered: { expects: "a string", fits: (value) => typeof value === "string" },
  messageId: entries.text(1, 1000),
  origin: entries.text(1, 2048),
  hops: count,
  attempts: count,
  finishedAt: entries.moment,
};

function readTarget(value: unknown): string | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? `telegram:${value}` : undefined;
  if (matches(value, /^-?\d{1,20}$/)) return `telegram:${value}`;
  return matches(value, /^(?:owner|mcp|cli|telegram:-?\d{1,20})$/) ? value as string : undefined;
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === "string" && pattern.test(value);
}
