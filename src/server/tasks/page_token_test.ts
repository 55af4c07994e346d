import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { ann, bob, sampleId, sampleNow } from "@tests/fakes/sample_tasks.ts";
import { createSeededRandom } from "@tests/fakes/seeded_random.ts";
import { readPageToken, writePageToken } from "./page_token.ts";
import type { ListQuery } from "./task_store.ts";

const query: ListQuery = { caller: ann, pageSize: 10, pageToken: "" };
const key = { at: sampleNow, id: sampleId(7) };
const token = writePageToken(key, query);

Deno.test("readPageToken() gives back the key that was written, in characters of a URL", () => {
  deepStrictEqual(readPageToken({ ...query, pageToken: token }), key);
  match(token, /^[A-Za-z0-9_-]+$/);
  ok(!atob(token.replaceAll("-", "+").replaceAll("_", "/")).includes("ann"));
});

const others: readonly Partial<ListQuery>[] = [
  { caller: bob },
  { contextId: "c1" },
  { contextId: "" },
  { state: "TASK_STATE_WORKING" },
  { since: sampleNow },
];
for (const other of others) {
  Deno.test(`readPageToken() refuses the token of another filter: ${JSON.stringify(other)}`, () => {
    strictEqual(readPageToken({ ...query, ...other, pageToken: token }), undefined);
  });
}

Deno.test("readPageToken() takes another page size", () => {
  deepStrictEqual(readPageToken({ ...query, pageSize: 99, pageToken: token }), key);
});

Deno.test("readPageToken() gives undefined for 5,000 random texts and 5,000 damaged tokens, and never throws", () => {
  const random = createSeededRandom(1);
  const chars = "ABCxyz019-_=+/ \n\u00e9\u{1f30b}%.";
  for (let round = 0; round < 5000; round++) {
    const text = Array.from({ length: random.below(80) }, () => chars[random.below(chars.length)]).join("");
    strictEqual(readPageToken({ ...query, pageToken: text }), undefined);
    const place = random.below(token.length);
    const damaged = token.slice(0, place) + chars[random.below(chars.length)] + token.slice(place + random.below(3));
    const read = readPageToken({ ...query, pageToken: damaged });
    ok(read === undefined || (Number.isSafeInteger(read.at) && typeof read.id === "string"));
  }
});
