import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { newTask } from "./lifecycle.ts";
import { asRecord, parseRecord, recordText } from "./record_json.ts";
import type { Fence, RunId, TaskRecord } from "./task_record.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { TimeMs } from "@/time/clock.ts";

const at = Date.parse("2026-10-08T12:00:00.000Z") as TimeMs;
const record: TaskRecord = {
  ...newTask({
    id: "00000000-0000-4000-8000-000000000001" as TaskId,
    caller: "alice" as CallerName,
    contextId: "c1",
    hops: 0,
    message: { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hi" }] },
    run: { runId: "r1" as RunId, attempt: 1, fence: 7 as Fence, queuedAt: at, startedAt: at, deadline: null },
    push: { id: "p1", url: "https://example.com/" },
    dedupe: { messageId: "m1", contextId: "c1", bodyHash: "h", until: at },
  }, { now: at, newId: () => "n1" }),
};

Deno.test("recordText() writes times as people read them, and parseRecord() reads them back [DM0 times]", () => {
  const text = recordText(record);
  const stored = JSON.parse(text);
  const iso = "2026-10-08T12:00:00.000Z";
  deepStrictEqual([stored.createdAt, stored.run.queuedAt, stored.run.startedAt, stored.run.deadline], [
    iso,
    iso,
    iso,
    null,
  ]);
  deepStrictEqual([stored.pushes[0].nextAt, stored.pushes[0].firstFailureAt, stored.dedupe.until], [iso, null, iso]);
  match(text, /^\{"v":1,"rev":1,"caller":"alice"/);
  deepStrictEqual(parseRecord(text), record);
});

Deno.test("parseRecord() also takes an offset, no milliseconds, and a number [DM0 times]", () => {
  const stored = JSON.parse(recordText(record));
  for (const createdAt of ["2026-10-08T14:00:00+02:00", "2026-10-08T12:00:00Z", at]) {
    deepStrictEqual(parseRecord(JSON.stringify({ ...stored, createdAt })), record);
  }
});

Deno.test("parseRecord() takes no record whose times are none [DM5 unreadable-kept]", () => {
  const stored = JSON.parse(recordText(record));
  strictEqual(parseRecord(JSON.stringify({ ...stored, createdAt: "yesterday" })), undefined);
  strictEqual(parseRecord(JSON.stringify({ ...stored, run: { ...stored.run, queuedAt: "soon" } })), undefined);
});

const stored = JSON.parse(recordText({ ...record, continued: [{ ...record.dedupe!, messageId: "m2" }] }));
const [logged] = stored.statusLog;
const broken: readonly (readonly [name: string, change: Record<string, unknown>])[] = [
  ["a status log without numbers", { statusLog: [{ status: logged.status }] }],
  ["a number that is none", { statusLog: [{ ...logged, seq: "1" }] }],
  ["a status log without statuses", { statusLog: [{ seq: 1 }] }],
  ["an unknown state in its log", { statusLog: [{ seq: 1, status: { ...logged.status, state: "x" } }] }],
  ["null in its status log", { statusLog: [null] }],
  ["null for a webhook", { pushes: [null] }],
  ["a continued key without a time", { continued: [{ messageId: "m2", contextId: "c1", bodyHash: "h" }] }],
];

for (const [name, change] of broken) {
  Deno.test(`parseRecord() takes no record with ${name} [DM5 unreadable-kept]`, () => {
    strictEqual(asRecord({ ...stored, ...change }), undefined);
  });
}

Deno.test("recordText() writes the keys of continuations, and parseRecord() reads them back [DM0 times]", () => {
  strictEqual(stored.continued[0].until, "2026-10-08T12:00:00.000Z");
  deepStrictEqual(asRecord(stored)?.continued, [{ ...record.dedupe!, messageId: "m2" }]);
});
