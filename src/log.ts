import { configureSync, type LogRecord, resetSync } from "@logtape/logtape";
import { AsyncLocalStorage } from "node:async_hooks";
import type { Config } from "./config.ts";

/** How the log is written. */
export interface LogOptions {
  /** The least severe lines that are written. */
  readonly level: Config["logLevel"]["value"];
  /** `json`: one object a line, for a machine. `text`: one readable line, for a person at a terminal. */
  readonly form: "json" | "text";
  /** Takes each line, without its end. Standard error when absent. Never throws. */
  readonly write?: (line: string) => void;
}

/**
 * Starts the log of this thread; the only caller of LogTape's `configure`.
 *
 * Every line carries the fields of the `withContext` calls it was made inside (`caller`, `taskId`, `runId`), whatever
 * was awaited in between. A `Secret` prints as `[redacted]`, since its `toJSON` says so. Control characters are
 * escaped and texts are cut at 8,192 characters, so a stranger's text can neither forge a line, nor drive a terminal,
 * nor fill a disk with one. What cannot be printed is said to be so: logging never throws.
 *
 * Dispose of the result to stop; a second start without that throws LogTape's ConfigError.
 */
export function startLog(options: LogOptions): Disposable {
  const lineOf = options.form === "json" ? jsonLine : textLine;
  const write = options.write ?? writeStandardError;
  configureSync({
    sinks: { lines: (record) => write(lineOf(record)) },
    loggers: [
      { category: ["a2a"], sinks: ["lines"], lowestLevel: options.level },
      // LogTape's own remarks about its configuration are of no use to an operator.
      { category: ["logtape", "meta"], sinks: [], parentSinks: "override" },
    ],
    contextLocalStorage: new AsyncLocalStorage<Record<string, unknown>>(),
  });
  return { [Symbol.dispose]: resetSync };
}

/** `console.error` rather than the stream: it is what telemetry captures (compile.md 6). */
function writeStandardError(line: string): void {
  console.error(line);
}

function jsonLine(record: LogRecord): string {
  const fields = Object.entries(record.properties).map(([name, value]) => [name, printable(value)]);
  return escapeControls(JSON.stringify({
    ...Object.fromEntries(fields),
    at: new Date(record.timestamp).toISOString(),
    level: record.level,
    logger: record.category.join("."),
    message: messageOf(record),
  }));
}

function textLine(record: LogRecord): string {
  const time = new Date(record.timestamp).toISOString().slice(11, 23);
  const used = typeof record.rawMessage === "string" ? record.rawMessage : "";
  const fields = Object.entries(record.properties)
    .filter(([name]) => !used.includes(`{${name}}`))
    .map(([name, value]) => ` ${name}=${shown(value)}`);
  const head = `${time} ${record.level.padEnd(7)} ${record.category.join(".")}`;
  return escapeControls(`${head}: ${messageOf(record)}${fields.join("")}`);
}

function messageOf(record: LogRecord): string {
  return cut(record.message.map((part, index) => index % 2 === 0 ? String(part) : shown(part)).join(""));
}

function shown(value: unknown): string {
  const plain = printable(value);
  return typeof plain === "string" ? plain : JSON.stringify(plain) ?? "undefined";
}

const charactersMax = 8192;

function cut(text: string): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}… (${text.length} characters)`;
}

/** A plain value that JSON can hold, whatever came in. */
function printable(value: unknown): unknown {
  if (typeof value === "string") return cut(value);
  if (value === undefined) return undefined;
  try {
    const text = JSON.stringify(value, (_, inner) => plain(inner));
    if (text === undefined) return String(value);
    return text.length <= charactersMax ? JSON.parse(text) : cut(text);
  } catch {
    return "[cannot be printed]";
  }
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (!(value instanceof Error)) return value;
  return { name: value.name, message: value.message, stack: value.stack, cause: value.cause };
}

/** C0 (line ends included), DEL, C1, line separators and the marks that turn the direction of text. */
const controls = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function escapeControls(line: string): string {
  return line.replace(controls, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
