import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { eachAtOnce } from "./each_at_once.ts";

Deno.test("eachAtOnce() works on at most so many at a time, in the order of the items", async () => {
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const begun: number[] = [];
  let working = 0;
  let most = 0;
  const all = eachAtOnce(gates.keys(), 2, async (n) => {
    begun.push(n);
    most = Math.max(most, ++working);
    await gates[n]!.promise;
    working--;
  });
  deepStrictEqual(begun, [0, 1]);
  gates[1]!.resolve();
  await turn();
  deepStrictEqual(begun, [0, 1, 2]);
  for (const gate of gates) gate.resolve();
  await all;
  deepStrictEqual([begun, most], [[0, 1, 2, 3, 4], 2]);
});

Deno.test("eachAtOnce() begins nothing after a failure, and rejects with the first when all that runs is done", async () => {
  const slow = Promise.withResolvers<void>();
  const begun: number[] = [];
  let isSlowDone = false;
  const all = eachAtOnce([0, 1, 2, 3], 2, async (n) => {
    begun.push(n);
    if (n === 0) {
      await slow.promise;
      isSlowDone = true;
      throw new Error("second");
    }
    throw new Error("first");
  });
  const refused = rejects(all, /first/);
  await turn();
  slow.resolve();
  await refused;
  deepStrictEqual([begun, isSlowDone], [[0, 1], true]);
});

Deno.test("eachAtOnce() passes on what throws at once, and undefined as a reason", async () => {
  await rejects(
    eachAtOnce([1], 3, () => {
      throw new TypeError("at once");
    }),
    TypeError,
  );
  let caught: unknown = "nothing";
  await eachAtOnce([1], 3, () => Promise.reject(undefined)).catch((reason) => caught = reason);
  strictEqual(caught, undefined);
});

Deno.test("eachAtOnce() does nothing without items", async () => {
  await eachAtOnce([], 8, () => Promise.reject(new Error("never")));
});

/** Lets what waits for promises go on. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
