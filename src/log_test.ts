import { deepStrictEqual, match, ok, strictEqual, throws } from "node:assert/strict";
import { getLogger, withContext } from "@logtape/logtape";
import { startLog } from "./log.ts";

const logger = getLogger(["a2a", "test"]);

function capture(form: "json" | "text", level: "trace" | "info" | "error", act: () => void): string[] {
  const lines: string[] = [];
  using _log = startLog({ form, level, write: (line) => lines.push(line) });
  act();
  return lines;
}

function one(act: () => void): Record<string, unknown> {
  const lines = capture("json", "trace", act);
  strictEqual(lines.length, 1);
  return JSON.parse(lines[0]!);
}

Deno.test("startLog() writes one JSON object a line, with the fields beside the message", () => {
  const { at, ...line } = one(() =>
    logger.info("Task {taskId} is {state}", { taskId: "t-1", state: "done", count: 2 })
  );
  match(String(at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  deepStrictEqual(line, {
    taskId: "t-1",
    state: "done",
    count: 2,
    level: "info",
    logger: "a2a.test",
    message: "Task t-1 is done",
  });
});

Deno.test("startLog() writes a readable line when asked, without naming a field twice", () => {
  const [line] = capture("text", "info", () => logger.warning("Task {taskId} waits", { taskId: "t-1", hops: 2 }));
  match(line!, /^\d\d:\d\d:\d\d\.\d{3} warning a2a\.test: Task t-1 waits hops=2$/);
});

Deno.test("startLog() leaves out lines below its level", () => {
  const lines = capture("text", "error", () => {
    logger.warning("no");
    logger.error("yes");
  });
  strictEqual(lines.length, 1);
});

Deno.test("startLog() puts the fields of withContext on every line inside, over awaits and side by side", async () => {
  const lines: string[] = [];
  using _log = startLog({ form: "json", level: "info", write: (line) => lines.push(line) });
  const work = (taskId: string) =>
    withContext({ caller: "ann", taskId }, async () => {
      await Promise.resolve();
      logger.info("Inside", {});
    });
  await Promise.all([work("t-1"), work("t-2")]);
  logger.info("Outside");
  deepStrictEqual(lines.map((line) => JSON.parse(line)).map(({ caller, taskId }) => [caller, taskId]), [
    ["ann", "t-1"],
    ["ann", "t-2"],
    [undefined, undefined],
  ]);
});

Deno.test("startLog() prints [redacted] for a value whose toJSON says so, in message and fields", () => {
  const secret = { toJSON: () => "[redacted]", toString: () => "[redacted]", hidden: "k_123" };
  const line = one(() => logger.info("Key {key}", { key: secret, nested: { secret } }));
  strictEqual(line.message, "Key [redacted]");
  deepStrictEqual(line.nested, { secret: "[redacted]" });
});

Deno.test("startLog() escapes control characters, so that a text cannot forge a line or drive a terminal", () => {
  for (const form of ["json", "text"] as const) {
    const hostile = "a\nb\u001b]52;c;x\u0007\u009b2J\u202egnp";
    const [line] = capture(form, "info", () => logger.info("Said {text}", { text: hostile }));
    ok(!/[\u0000-\u001f\u007f-\u009f\u202e]/.test(line!), line);
    if (form === "json") strictEqual(JSON.parse(line!).text, hostile);
  }
});

Deno.test("startLog() keeps its own names when a field is called the same", () => {
  const line = one(() => logger.info("Hello", { level: "fatal", message: "forged", at: 0, logger: "x" }));
  deepStrictEqual([line.level, line.message, line.logger], ["info", "Hello", "a2a.test"]);
});

Deno.test("startLog() cuts a text of any length", () => {
  const line = one(() => logger.info("Long", { text: "x".repeat(1_000_000), list: Array(100_000).fill("y") }));
  ok(JSON.stringify(line).length < 40_000);
  match(String(line.text), /… \(1000000 characters\)$/);
});

Deno.test("startLog() prints an error with its stack and cause, and never throws on what has no JSON", () => {
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  const line = one(() =>
    logger.error("Broke", {
      error: new Error("outer", { cause: new RangeError("inner") }),
      big: 12n,
      loop,
      nothing: undefined,
      act: () => {},
    })
  );
  const error = line.error as { message: string; stack: string; cause: { name: string } };
  deepStrictEqual([error.message, error.cause.name], ["outer", "RangeError"]);
  match(error.stack, /log_test/);
  strictEqual(line.big, "12");
  strictEqual(line.loop, "[cannot be printed]");
});

Deno.test("startLog() says nothing of its own, and may be started again once stopped", () => {
  strictEqual(capture("json", "trace", () => {}).length, 0);
  using _log = startLog({ form: "json", level: "info", write: () => {} });
  throws(() => startLog({ form: "json", level: "info", write: () => {} }), { name: "ConfigError" });
});
