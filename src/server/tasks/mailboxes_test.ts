import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { sampleId } from "@tests/fakes/sample_tasks.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { Mailboxes } from "./mailboxes.ts";

Deno.test("Mailboxes.post() does items of a task one after the other, in their order", async () => {
  const mailboxes = new Mailboxes();
  const log: string[] = [];
  const first = Promise.withResolvers<void>();
  const id = sampleId(1);
  const one = mailboxes.post(id, async () => {
    log.push("1 begins");
    await first.promise;
    log.push("1 ends");
    return 1;
  });
  const two = mailboxes.post(id, () => Promise.resolve(log.push("2")));
  await mailboxes.post(sampleId(2), () => Promise.resolve(log.push("other task")));
  deepStrictEqual(log, ["1 begins", "other task"]);
  first.resolve();
  strictEqual(await one, 1);
  await two;
  deepStrictEqual(log, ["1 begins", "other task", "1 ends", "2"]);
});

Deno.test("Mailboxes.post() passes on what an item throws, and goes on with the next", async () => {
  const mailboxes = new Mailboxes();
  const id = sampleId(1);
  const failed = mailboxes.post(id, () => Promise.reject(new Error("no")));
  const next = mailboxes.post(id, () => Promise.resolve("yes"));
  await rejects(failed, /no/);
  strictEqual(await next, "yes");
});

Deno.test("Mailboxes.empty() waits for items that came meanwhile too", async () => {
  const clock = createTestClock();
  const mailboxes = new Mailboxes();
  const id = sampleId(1);
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  void mailboxes.post(id, async () => {
    await first.promise;
    void mailboxes.post(sampleId(2), () => second.promise);
  });
  let isEmpty = false;
  const empty = mailboxes.empty().then(() => isEmpty = true);
  first.resolve();
  await clock.settle();
  strictEqual(isEmpty, false);
  second.resolve();
  await empty;
});
