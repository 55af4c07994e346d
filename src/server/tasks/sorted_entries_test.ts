import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { sampleId, sampleNow, sampleTask } from "@tests/fakes/sample_tasks.ts";
import { createSeededRandom } from "@tests/fakes/seeded_random.ts";
import { entryOf, type IndexEntry } from "./index_entry.ts";
import { SortedEntries } from "./sorted_entries.ts";

const idsOf = (entries: SortedEntries) => [...entries].map(({ id }) => id);
const entry = (n: number, at: number): IndexEntry => entryOf(sampleTask({ n, now: sampleNow + at }));

Deno.test("SortedEntries orders by time, ties by id, in whatever order they come", () => {
  const entries = new SortedEntries();
  for (const [n, at] of [[5, 2], [1, 1], [4, 1], [2, 3], [3, 1]] as const) entries.add(entry(n, at));
  deepStrictEqual(idsOf(entries), [1, 3, 4, 5, 2].map(sampleId));
  strictEqual(entries.at(1)?.id, sampleId(3));
  strictEqual(entries.at(9), undefined);
});

Deno.test("SortedEntries finds the first place not before a key", () => {
  const entries = new SortedEntries();
  for (const [n, at] of [[1, 1], [3, 1], [2, 5]] as const) entries.add(entry(n, at));
  const from = (at: number, id: string) => entries.from({ at: sampleNow + at, id });
  deepStrictEqual(
    [from(0, ""), from(1, ""), from(1, sampleId(2)), from(1, sampleId(3)), from(2, ""), from(5, sampleId(9))],
    [0, 0, 1, 1, 2, 3],
  );
});

Deno.test("SortedEntries removes what is there and nothing else", () => {
  const entries = new SortedEntries();
  for (const n of [1, 2, 3]) entries.add(entry(n, 1));
  entries.remove(entry(2, 1));
  entries.remove(entry(2, 1));
  entries.remove(entry(3, 7));
  deepStrictEqual(idsOf(entries), [1, 3].map(sampleId));
  strictEqual(entries.length, 2);
});

for (const seed of [1, 2]) {
  Deno.test(`SortedEntries is as a sorted list over 20,000 random changes, those far back included, by seed ${seed}`, () => {
    const random = createSeededRandom(seed);
    const entries = new SortedEntries();
    const model = new Map<number, IndexEntry>();
    for (let round = 0; round < 20_000; round++) {
      const n = random.below(12_000);
      const before = model.get(n);
      if (before !== undefined) entries.remove(before);
      model.delete(n);
      if (random.below(10) === 0) continue;
      const after = entry(n, random.below(6000));
      entries.add(after);
      model.set(n, after);
      if (round % 997 !== 0) continue;
      const key = { at: sampleNow + random.below(6000), id: sampleId(random.below(12_000)) };
      const isBefore = (one: IndexEntry) => one.at < key.at || (one.at === key.at && one.id < key.id);
      strictEqual(entries.from(key), [...model.values()].filter(isBefore).length);
      strictEqual(entries.length, model.size);
    }
    const sorted = [...model.values()].sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
    deepStrictEqual(idsOf(entries), sorted.map(({ id }) => id));
    strictEqual(entries.at(100)?.id, sorted[100]!.id);
  });
}
