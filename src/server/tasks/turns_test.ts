import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { Turns } from "./turns.ts";

Deno.test("Turns does work of one name one after another, a failure included, and other work at once", async () => {
  const turns = new Turns();
  const gate = Promise.withResolvers<void>();
  const log: string[] = [];
  const first = turns.take("a", async () => {
    log.push("a1");
    await gate.promise;
    throw new Error("broken");
  });
  const second = turns.take("a", () => Promise.resolve(log.push("a2")));
  await turns.take("b", () => Promise.resolve(log.push("b")));
  deepStrictEqual(log, ["a1", "b"]);
  gate.resolve();
  await rejects(first, /broken/);
  strictEqual(await second, 3);
});

Deno.test("Turns idle() waits for what is done, and for what comes meanwhile", async () => {
  const turns = new Turns();
  const gate = Promise.withResolvers<void>();
  const log: string[] = [];
  const one = turns.take("a", () => gate.promise).then(() => turns.take("a", () => Promise.resolve(log.push("later"))));
  const idle = turns.idle().then(() => log.push("idle"));
  gate.resolve();
  await Promise.all([one, idle]);
  await turns.idle();
  deepStrictEqual(log.includes("later"), true);
});
