import { type LogOptions, startLog } from "@/log.ts";

/** What is logged from now on, at this level and above, until it is disposed of: one line each. */
export interface LogLines extends Disposable {
  readonly lines: readonly string[];
}

/** Takes the log for a test. */
export function takeLog(level: LogOptions["level"]): LogLines {
  const lines: string[] = [];
  const log = startLog({ form: "text", level, write: (line) => lines.push(line) });
  return { lines, [Symbol.dispose]: () => log[Symbol.dispose]() };
}
