import { rejects, strictEqual } from "node:assert/strict";
import { unlessAborted } from "./unless_aborted.ts";

Deno.test("unlessAborted() gives what the work gives, its failure included", async () => {
  const { signal } = new AbortController();
  strictEqual(await unlessAborted(Promise.resolve(1), signal), 1);
  await rejects(unlessAborted(Promise.reject(new Error("broken")), signal), /broken/);
});

Deno.test("unlessAborted() ends the wait at an abort, and drops what the work comes to then", async () => {
  const stop = new AbortController();
  const work = Promise.withResolvers<number>();
  const waited = unlessAborted(work.promise, stop.signal);
  stop.abort();
  strictEqual(await waited, undefined);
  work.reject(new Error("late"));
  strictEqual(await unlessAborted(new Promise(() => {}), stop.signal), undefined);
});
