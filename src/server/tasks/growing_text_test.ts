import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { GrowingText } from "./growing_text.ts";

Deno.test("GrowingText gives each range of chunks as one text", () => {
  const text = new GrowingText();
  for (const chunk of ["He", "llo", "", " you"]) text.append(chunk);
  deepStrictEqual([text.end, text.length], [4, 9]);
  deepStrictEqual([text.range(0), text.range(1), text.range(1, 2), text.range(4)], ["Hello you", "llo you", "llo", ""]);
});

Deno.test("GrowingText joins each of 10,000 chunks once a reader, whatever the readers' pace [§5.5 subscribers-are-cursors]", () => {
  let joined = 0;
  /** Stands for a chunk, and counts how often it is put into a text. */
  const chunk = {
    length: 3,
    toString() {
      joined++;
      return "abc";
    },
  } as unknown as string;
  const text = new GrowingText();
  const paces = [1, 7, 1000, 10_000];
  const readers = paces.map((pace) => ({ pace, read: 0, length: 0 }));
  for (let n = 1; n <= 10_000; n++) {
    text.append(chunk);
    for (const reader of readers) {
      if (n % reader.pace !== 0 && n !== 10_000) continue;
      reader.length += text.range(reader.read, text.end).length;
      reader.read = text.end;
    }
  }
  strictEqual(joined, 10_000 * paces.length);
  deepStrictEqual(readers.map(({ length }) => length), paces.map(() => 30_000));
  strictEqual(text.length, 30_000);
});
