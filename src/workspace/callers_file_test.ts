import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { systemClock, type TimeMs } from "@/time/clock.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { acceptsKey, type Caller, CallersFile, parseCallers, readCaller } from "./callers_file.ts";
import { createDisk } from "./disk.ts";
import { hashKey } from "./key_hash.ts";

const hash = hashKey("k_old");
const parse = (json: unknown) =>
  parseCallers({ kind: "bytes", bytes: new TextEncoder().encode(JSON.stringify(json)) }, "callers.json");

Deno.test("parseCallers() reads 000's example, and hashes its key [§4, seed 000 Files]", () => {
  const { callers, problems, malformed, missing } = parse([
    { name: "travel-bot", key: "k_3f9c2a0000", mode: "isolated", note: "Alice's trip planner" },
  ]);
  deepStrictEqual([problems, malformed, missing, callers.length], [[], false, false, 1]);
  const [caller] = callers as [Caller];
  ok(caller.by.kind === "key");
  strictEqual(caller.by.clear?.reveal(), "k_3f9c2a0000");
  deepStrictEqual({ ...caller, by: caller.by.hash }, {
    caller: "travel-bot",
    name: "travel-bot",
    by: hashKey("k_3f9c2a0000"),
    keyHint: "0000",
    expires: undefined,
    note: "Alice's trip planner",
    limits: {},
    access: "read",
    network: false,
    mayDelegate: false,
  });
});

Deno.test("parseCallers() reads every field of ours [DM1 fields]", () => {
  const limits = {
    requestsPerMinute: 0,
    readsPerMinute: 1,
    concurrentRuns: 2,
    contexts: 3,
    storedTasks: 4,
    diskBytes: 5,
  };
  const { callers: [caller], problems } = parse([{
    name: "a",
    keyHash: hash.toUpperCase().replace("SHA256", "sha256"),
    keyHint: "abcd",
    previousKeyHash: hashKey("older"),
    previousUntil: "2026-10-08T14:00:00+02:00",
    expires: "2027-01-01T00:00:00Z",
    limits: { ...limits, turnsPerContext: 6, runTimeout: "01:00:00", unknown: "x" },
    access: "write",
    network: true,
    mayDelegate: true,
    unknown: { x: 1 },
  }]);
  strictEqual(problems.length, 1);
  match(
    problems[0]!,
    /^Entry "a" of callers.json sets mayDelegate, which/,
  );
  deepStrictEqual(caller, {
    caller: "a",
    name: "a",
    by: {
      kind: "key",
      hash,
      clear: undefined,
      previous: { hash: hashKey("older"), until: Date.parse("2026-10-08T12:00:00Z") },
    },
    keyHint: "abcd",
    expires: Date.parse("2027-01-01T00:00:00Z"),
    note: undefined,
    limits: { ...limits, turnsPerContext: 6, runTimeoutMs: 3_600_000 },
    access: "write",
    network: true,
    mayDelegate: true,
  });
});

Deno.test("parseCallers() knows a workspace of this host as @<workspace> [§12]", () => {
  const { callers, skipped } = parse([{ name: "team", workspace: "research" }, { name: "two", workspace: "research" }]);
  deepStrictEqual(callers.map(({ caller, by }) => [caller, by]), [["@research", {
    kind: "workspace",
    workspace: "research",
  }]]);
  deepStrictEqual(skipped, [{ number: 2, name: "two", why: "an earlier entry lets in the same workspace" }]);
});

const badEntries: readonly { name: string; entry: unknown }[] = [
  { name: "a text", entry: "k_secret-key" },
  { name: "null", entry: null },
  { name: "an array", entry: [] },
  { name: "no name", entry: { key: "k_secret-key" } },
  { name: "a bad name", entry: { name: "Travel Bot", key: "k_secret-key" } },
  { name: "a name of 41", entry: { name: "a".repeat(41), key: "k_secret-key" } },
  { name: "a name with @", entry: { name: "@other", key: "k_secret-key" } },
  { name: "the reserved name a2a", entry: { name: "a2a", key: "k_secret-key" } },
  { name: "the reserved name owner", entry: { name: "owner", key: "k_secret-key" } },
  { name: "the reserved name host", entry: { name: "host", key: "k_secret-key" } },
  { name: "no key", entry: { name: "x" } },
  { name: "an empty key", entry: { name: "x", key: "" } },
  { name: "a number as key", entry: { name: "x", key: 5 } },
  { name: "a key of 513", entry: { name: "x", key: "k".repeat(513) } },
  { name: "a key and a hash", entry: { name: "x", key: "k_secret-key", keyHash: hash } },
  { name: "a key and a workspace", entry: { name: "x", key: "k_secret-key", workspace: "y" } },
  { name: "a short hash", entry: { name: "x", keyHash: "sha256:00" } },
  { name: "a hash of another kind", entry: { name: "x", keyHash: hash.replace("sha256", "md5") } },
  { name: "half a previous key", entry: { name: "x", keyHash: hash, previousKeyHash: hash } },
  { name: "the other half", entry: { name: "x", keyHash: hash, previousUntil: "2026-10-08T12:00:00Z" } },
  { name: "an expiry without offset", entry: { name: "x", keyHash: hash, expires: "2026-10-08T12:00:00" } },
  { name: "an unknown mode", entry: { name: "x", keyHash: hash, mode: "trusted" } },
  { name: "a long note", entry: { name: "x", keyHash: hash, note: "n".repeat(501) } },
  { name: "limits as array", entry: { name: "x", keyHash: hash, limits: [] } },
  { name: "a negative limit", entry: { name: "x", keyHash: hash, limits: { contexts: -1 } } },
  { name: "half a limit", entry: { name: "x", keyHash: hash, limits: { contexts: 0.5 } } },
  { name: "a bad timeout", entry: { name: "x", keyHash: hash, limits: { runTimeout: "soon" } } },
  { name: "an unknown access", entry: { name: "x", keyHash: hash, access: "admin" } },
  { name: "network as text", entry: { name: "x", keyHash: hash, network: "true" } },
  { name: "mayDelegate as number", entry: { name: "x", keyHash: hash, mayDelegate: 1 } },
  { name: "a bad workspace", entry: { name: "x", workspace: "../y" } },
];

for (const { name, entry } of badEntries) {
  Deno.test(`parseCallers() skips an entry with ${name}, reads the others, and shows no key [DM1 bad-entry]`, () => {
    const read = parse([{ name: "good", keyHash: hash }, entry, { name: "also", key: "k_0123456789" }]);
    deepStrictEqual(read.callers.map(({ name }) => name), ["good", "also"]);
    deepStrictEqual([read.malformed, read.skipped.length, read.skipped[0]?.number], [false, 1, 2]);
    ok(read.problems[0]!.startsWith("Skipped entry 2"), read.problems[0]);
    strictEqual(/k_|secret|sha256:[0-9a-f]/.test(read.problems.join()), false, read.problems.join());
  });
}

Deno.test("parseCallers() keeps the first of two entries with one name [seed 000 Files]", () => {
  const { callers, problems } = parse([{ name: "x", key: "first" }, { name: "x", key: "second" }]);
  deepStrictEqual(callers.map(({ by }) => by.kind === "key" && by.clear?.reveal()), ["first"]);
  deepStrictEqual(problems, ['Skipped entry 2 "x" of callers.json: an earlier entry has its name']);
});

const malformed: readonly { name: string; text: string; why: RegExp }[] = [
  { name: "empty", text: "", why: /it is empty/ },
  { name: "half-saved", text: '[{"name":"x","key":"k_sec', why: /not JSON/ },
  { name: "an object", text: '{"name":"x","key":"k_sec"}', why: /expected an array, got an object/ },
  { name: "1001 entries", text: JSON.stringify(Array(1001).fill({})), why: /1001 entries, and 1000/ },
  { name: "over 1 MiB", text: `[${" ".repeat(2 ** 20)}]`, why: /larger than 1048576/ },
];

for (const { name, text, why } of malformed) {
  Deno.test(`CallersFile.read() of a file that is ${name}: malformed, nobody, one problem without the key [DM1 malformed, DM1 limits]`, async () => {
    await using folder = await makeTempFolder();
    const path = `${folder.path}/callers.json`;
    await Deno.writeTextFile(path, text);
    const read = new CallersFile({ disk: createDisk(systemClock), clock: systemClock, path }).read();
    deepStrictEqual([read.malformed, read.missing, read.callers, read.problems.length], [true, false, [], 1]);
    ok(why.test(read.problems[0]!) && read.problems[0]!.includes(path) && !read.problems[0]!.includes("k_sec"));
  });
}

Deno.test("CallersFile.read() of no file: nobody, and not malformed; an edit holds at the next call [§4 edits-hold-at-once, §4 missing-is-none]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/callers.json`;
  const file = new CallersFile({ disk: createDisk(systemClock), clock: systemClock, path });
  deepStrictEqual(file.read(), { callers: [], skipped: [], missing: true, malformed: false, problems: [] });
  await Deno.writeTextFile(path, JSON.stringify([{ name: "a", key: "one" }]));
  const first = file.read();
  strictEqual(first.callers.length, 1);
  strictEqual(file.read(), first);
  await Deno.writeTextFile(path, JSON.stringify([{ name: "a", key: "two" }]));
  ok(acceptsKey(file.read().callers[0]!, hashKey("two"), systemClock.now()));
});

Deno.test("acceptsKey() takes the key, and the one before it until its time is over [DM1 fields]", () => {
  const until = Date.parse("2026-10-08T12:00:00.000Z") as TimeMs;
  const caller = readCaller({
    ...{ name: "x", keyHash: hashKey("new") },
    ...{ previousKeyHash: hashKey("old"), previousUntil: "2026-10-08T12:00:00Z" },
  });
  ok(!("why" in caller));
  const accepts = (key: string, at: number) => acceptsKey(caller, hashKey(key), at as TimeMs);
  deepStrictEqual([accepts("new", until), accepts("old", until - 1), accepts("old", until)], [true, true, false]);
  deepStrictEqual([accepts("other", 0), accepts("", 0)], [false, false]);
  const local = readCaller({ name: "x", workspace: "y" });
  ok(!("why" in local) && !acceptsKey(local, hashKey("y"), until));
});
