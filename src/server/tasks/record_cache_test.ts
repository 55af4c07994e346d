import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { sampleId, sampleTask } from "@tests/fakes/sample_tasks.ts";
import { RecordCache } from "./record_cache.ts";

const ns = (cache: RecordCache, upTo: number) =>
  Array.from({ length: upTo }, (_, n) => n + 1).filter((n) => cache.get(sampleId(n)) !== undefined);

Deno.test("RecordCache lets the longest unused go when it is over its size", () => {
  const cache = new RecordCache(30);
  for (const n of [1, 2, 3]) cache.put(sampleTask({ n }), 10);
  cache.get(sampleId(1));
  cache.put(sampleTask({ n: 4 }), 10);
  deepStrictEqual(ns(cache, 4), [1, 3, 4]);
  cache.put(sampleTask({ n: 5 }), 25);
  deepStrictEqual(ns(cache, 5), [5]);
});

Deno.test("RecordCache counts a record that is put again or deleted once", () => {
  const cache = new RecordCache(30);
  for (let round = 0; round < 10; round++) cache.put(sampleTask({ n: 1 }), 20);
  cache.put(sampleTask({ n: 2 }), 10);
  deepStrictEqual(ns(cache, 2), [1, 2]);
  cache.delete(sampleId(1));
  cache.delete(sampleId(1));
  cache.put(sampleTask({ n: 3 }), 20);
  deepStrictEqual(ns(cache, 3), [2, 3]);
});

Deno.test("RecordCache keeps no record that is larger than the cache", () => {
  const cache = new RecordCache(30);
  cache.put(sampleTask({ n: 1 }), 31);
  strictEqual(cache.get(sampleId(1)), undefined);
  cache.put(sampleTask({ n: 2 }), 30);
  strictEqual(cache.get(sampleId(2))?.task.id, sampleId(2));
});
