import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { sampleId, sampleNow, sampleTask } from "@tests/fakes/sample_tasks.ts";
import { entryOf, type IndexEntry } from "./index_entry.ts";
import { SortedEntries } from "./sorted_entries.ts";

const count = 10_000;
const all: readonly IndexEntry[] = Array.from({ length: count }, (_, n) => ({
  ...entryOf(sampleTask()),
  id: sampleId(n),
  at: sampleNow + Math.floor(n / 3), // ties
}));
/** Every entry once, far from any order. */
const mixed = all.map((_, n) => all[n * 7919 % count]!);

function filled(): SortedEntries {
  const entries = new SortedEntries();
  for (const entry of mixed) entries.add(entry);
  return entries;
}

Deno.test("SortedEntries orders very many that come in no order, as from a folder [DM6 index]", () => {
  const entries = filled();
  strictEqual(entries.length, count);
  deepStrictEqual([...entries].map(({ id }) => id), all.map(({ id }) => id));
});

Deno.test("SortedEntries finds a place while many were just added in no order", () => {
  const entries = filled();
  strictEqual(entries.from({ at: all[300]!.at, id: all[300]!.id }), 300);
  strictEqual(filled().at(count - 1)?.id, sampleId(count - 1));
});

Deno.test("SortedEntries removes any of many that were just added in no order, once", () => {
  const entries = filled();
  for (const n of [0, 5_000, count - 1, 5_000]) entries.remove(all[n]!);
  strictEqual(entries.length, count - 3);
  const left = new Set([...entries].map(({ id }) => id));
  deepStrictEqual([0, 1, 5_000, 5_001, count - 1].map((n) => left.has(sampleId(n))), [false, true, false, true, false]);
});
