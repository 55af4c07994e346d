import { parseTime, type TimeMs } from "@/time/clock.ts";
import type { FileContent } from "./cached_file.ts";

/** A JSON object whose fields are still to be looked at. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A file that should hold an array, as far as it does. */
export type EntriesRead =
  | { readonly kind: "none" }
  /** `why` ends a sentence: "expected an array, got an object". Never holds a value of the file. */
  | { readonly kind: "malformed"; readonly why: string }
  | { readonly kind: "entries"; readonly entries: readonly unknown[] };

/** An entry that was left out; `name` is there when it has a fit one. */
export interface SkippedEntry {
  /** From 1, as a person counts. */
  readonly number: number;
  readonly name?: string;
  /** Ends a sentence. Never holds a value of the entry: it could be a key. */
  readonly why: string;
}

/** What one field must be like. A JSON null is as if the field were absent. */
export interface FieldRule {
  /** Ends the sentence `"<field>" must be ...`. */
  readonly expects: string;
  readonly required?: boolean;
  fits(value: unknown): boolean;
}

/** Parses JSON in UTF-8 (a byte-order mark is overlooked); undefined when it is none. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/** Reads the content of a file that should be an array of at most `entriesMax`. A missing file is `none`. */
export function readEntries(content: FileContent, entriesMax: number): EntriesRead {
  if (content.kind === "missing") return { kind: "none" };
  if (content.kind === "unusable") return { kind: "malformed", why: content.why };
  if (content.bytes.length === 0) return { kind: "malformed", why: "it is empty" };
  const json = parseJson(content.bytes);
  if (json === undefined) return { kind: "malformed", why: "it is not JSON in UTF-8" };
  if (!Array.isArray(json)) return { kind: "malformed", why: `expected an array, got ${nameOfType(json)}` };
  if (json.length > entriesMax) {
    return { kind: "malformed", why: `it has ${json.length} entries, and ${entriesMax} are allowed` };
  }
  return { kind: "entries", entries: json };
}

/** The first rule that an object breaks, as the end of a sentence; undefined when it keeps all of them. */
export function brokenRule(json: JsonObject, rules: Readonly<Record<string, FieldRule>>): string | undefined {
  for (const [field, rule] of Object.entries(rules)) {
    const value = fieldOf(json, field);
    if (value === undefined ? rule.required === true : !rule.fits(value)) return `"${field}" must be ${rule.expects}`;
  }
  return undefined;
}

/** The value of an own field; undefined when it is absent or null. */
export function fieldOf(json: JsonObject, field: string): unknown {
  return Object.hasOwn(json, field) ? json[field] ?? undefined : undefined;
}

/** `Skipped entry 3 "travel-bot" of /ws/.volcanic/a2a/callers.json: <why>`. */
export function describeSkipped(path: string, { number, name, why }: SkippedEntry): string {
  return `Skipped entry ${number}${name === undefined ? "" : ` "${name}"`} of ${path}: ${why}`;
}

/** Says whether a JSON value is an object: neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A rule for a text of `min` to `max` characters. */
export function text(min: number, max: number): FieldRule {
  return {
    expects: min === 0 ? `a string of at most ${max} characters` : `a string of ${min} to ${max} characters`,
    fits: (value) => typeof value === "string" && value.length >= min && value.length <= max,
  };
}

/** A rule for one of some words. */
export function oneOf(...words: readonly string[]): FieldRule {
  return {
    expects: words.map((word) => `"${word}"`).join(" or "),
    fits: (value) => typeof value === "string" && words.includes(value),
  };
}

/** A rule for true and false. */
export const flag: FieldRule = { expects: "true or false", fits: (value) => typeof value === "boolean" };

/** A rule for a moment in ISO 8601, with its offset: a time without one means something else on every machine. */
export const moment: FieldRule = {
  expects: "a time like 2026-10-08T12:00:00.000Z",
  fits: (value) => readMoment(value) !== undefined,
};

/** The moment that a field names (data-model.md 0: an offset and missing milliseconds are taken too). */
export function readMoment(value: unknown): TimeMs | undefined {
  if (typeof value !== "string" || !momentPattern.test(value)) return undefined;
  const at = parseTime(value);
  return Number.isNaN(at) ? undefined : at;
}

/** A length of time in milliseconds: `00:30:00`, `1.00:00:00`, `30m`, `1d`, or seconds (product.md §16). */
export function readDurationMs(value: unknown): number | undefined {
  const written = typeof value === "number" ? String(value) : value;
  if (typeof written !== "string") return undefined;
  const span = /^(?:(\d{1,5})\.)?([01]?\d|2[0-3]):([0-5]\d):([0-5]\d(?:\.\d{1,7})?)$/.exec(written);
  const plain = /^(\d{1,10}(?:\.\d{1,7})?)(ms|s|m|h|d)?$/.exec(written);
  if (!span && !plain) return undefined;
  const ms = span
    ? ((Number(span[1] ?? 0) * 24 + Number(span[2])) * 60 + Number(span[3])) * 60_000 + Number(span[4]) * 1000
    : Number(plain![1]) * unitMs[plain![2] ?? "s"]!;
  return ms <= durationMsMax ? Math.round(ms) : undefined;
}

const momentPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)$/;
const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const durationMsMax = 36_500 * 86_400_000;

function nameOfType(value: unknown): string {
  if (value === null) return "null";
  return isObject(value) ? "an object" : `a ${typeof value}`;
}
