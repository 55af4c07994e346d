import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { takeLog } from "@tests/fakes/log_lines.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { A2AError } from "@/protocol/errors.ts";
import { systemClock } from "@/time/clock.ts";
import { CallersFile, parseCallers } from "@/workspace/callers_file.ts";
import { createDisk } from "@/workspace/disk.ts";
import { hashKey } from "@/workspace/key_hash.ts";
import { CallerAuth } from "./caller_auth.ts";

const key = "k_one_0123456789";
const other = "k_two_0123456789";

/** Keys over workspaces of these entries; `ask` says who is let in, or why not. */
async function makeAuth(...workspaces: readonly unknown[]) {
  const temp = await makeTempFolder();
  const clock = createTestClock();
  const disk = createDisk(systemClock);
  let reads = 0;
  const counting = {
    ...disk,
    openReadSync(path: string) {
      reads++;
      return disk.openReadSync(path);
    },
  };
  const write = async (entries: unknown, place = 0) => {
    const path = `${temp.path}/callers-${place}.json`;
    await Deno.writeTextFile(path, typeof entries === "string" ? entries : JSON.stringify(entries));
    await Deno.utime(path, 1_000_000, 1_000_000 + reads); // long ago, so that it is only read when it changed
  };
  await Promise.all(workspaces.map(write));
  const served = workspaces.map((_, place) => ({
    name: `w${place}`,
    callers: new CallersFile({ disk: counting, clock, path: `${temp.path}/callers-${place}.json` }),
  }));
  const auth = new CallerAuth({ workspaces: served, clock });
  const ask = (headers: Record<string, string>, address = "192.0.2.1") => {
    const found = auth.authenticate(new Headers(headers), address);
    if (!(found instanceof A2AError)) return `${found.workspace.name}/${found.caller.name}`;
    return found.retryAfterSeconds === undefined ? found.reason : `${found.reason} ${found.retryAfterSeconds}`;
  };
  return {
    ...{ auth, ask, clock, write, path: temp.path },
    reads: () => reads,
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

const forms: readonly { readonly name: string; readonly headers: Record<string, string>; readonly is: string }[] = [
  { name: "X-API-Key", headers: { "X-API-Key": key }, is: "w0/ann" },
  { name: "X-API-Key with spaces around", headers: { "X-API-Key": ` ${key} ` }, is: "w0/ann" },
  { name: "Bearer", headers: { Authorization: `Bearer ${key}` }, is: "w0/ann" },
  { name: "bearer in lower case, two spaces", headers: { authorization: `bearer  ${key}` }, is: "w0/ann" },
  { name: "both, the same", headers: { "X-API-Key": key, Authorization: `Bearer ${key}` }, is: "w0/ann" },
  {
    name: "both, different, each good",
    headers: { "X-API-Key": key, Authorization: `Bearer ${other}` },
    is: "UNAUTHENTICATED",
  },
  {
    name: "both, one of them wrong",
    headers: { "X-API-Key": key, Authorization: "Bearer x" },
    is: "UNAUTHENTICATED",
  },
  { name: "another scheme beside the key", headers: { "X-API-Key": key, Authorization: "Basic eDp5" }, is: "w0/ann" },
  { name: "another scheme", headers: { Authorization: `Basic ${btoa(`x:${key}`)}` }, is: "UNAUTHENTICATED" },
  { name: "no scheme", headers: { Authorization: key }, is: "UNAUTHENTICATED" },
  { name: "nothing", headers: {}, is: "UNAUTHENTICATED" },
  { name: "blank", headers: { "X-API-Key": "  ", Authorization: "Bearer " }, is: "UNAUTHENTICATED" },
  { name: "a wrong key", headers: { "X-API-Key": `${key}x` }, is: "UNAUTHENTICATED" },
  { name: "a part of the key", headers: { "X-API-Key": key.slice(0, -1) }, is: "UNAUTHENTICATED" },
  { name: "the key's hash", headers: { "X-API-Key": hashKey(key) }, is: "UNAUTHENTICATED" },
  { name: "a key of the second workspace", headers: { "X-API-Key": "k_three_0123456789" }, is: "w1/ann" },
];
for (const { name, headers, is } of forms) {
  Deno.test(`CallerAuth answers ${is} to ${name} [§5.2 one-key-in-two-headers]`, async () => {
    await using made = await makeAuth([{ name: "ann", key }, { name: "ben", keyHash: hashKey(other) }], [
      { name: "ann", key: "k_three_0123456789" },
    ]);
    strictEqual(made.ask(headers), is);
    strictEqual(made.ask(headers), is);
  });
}

Deno.test("CallerAuth refuses a key of two callers, in one workspace or two, with a warning that has no key [§5.2 exactly-one-caller]", async () => {
  using log = takeLog("warning");
  const { lines } = log;
  await using two = await makeAuth([{ name: "ann", key }], [{ name: "ben", keyHash: hashKey(key) }]);
  await using one = await makeAuth([{ name: "ann", key }, { name: "ben", key }, { name: "cleo", key: other }]);
  strictEqual(two.ask({ "X-API-Key": key }), "UNAUTHENTICATED");
  strictEqual(one.ask({ "X-API-Key": key }), "UNAUTHENTICATED");
  strictEqual(one.ask({ "X-API-Key": other }), "w0/cleo");
  strictEqual(lines.length, 2);
  match(lines[0]!, /matches 2 callers .*owners: w0\/ann, w1\/ben/);
  match(lines[1]!, /matches 2 callers .*owners: w0\/ann, w0\/ben/);
  for (const line of lines) ok(!line.includes(key) && !line.includes(hashKey(key).slice(7, 20)));

  await two.write([], 1);
  strictEqual(two.ask({ "X-API-Key": key }), "w0/ann");
});

Deno.test("CallerAuth lets an edit hold at once, of a key that it knew, too [§4 edits-hold-at-once, §5.2 known-until-a-change]", async () => {
  await using made = await makeAuth([{ name: "ann", key }], []);
  strictEqual(made.ask({ "X-API-Key": key }), "w0/ann");
  await made.write([{ name: "ann", key: other }]);
  deepStrictEqual([made.ask({ "X-API-Key": key }), made.ask({ "X-API-Key": other })], ["UNAUTHENTICATED", "w0/ann"]);
  await made.write([{ name: "ann", key }]);
  strictEqual(made.ask({ "X-API-Key": key }), "w0/ann");
  await made.write([{ name: "ben", key }], 1);
  strictEqual(made.ask({ "X-API-Key": key }), "UNAUTHENTICATED");
  await Deno.remove(`${made.path}/callers-1.json`);
  strictEqual(made.ask({ "X-API-Key": key }), "w0/ann");
  await made.write("[{ half");
  strictEqual(made.ask({ "X-API-Key": key }), "UNAUTHENTICATED");
  strictEqual(made.auth.hasCallers, true);
  await Deno.remove(`${made.path}/callers-0.json`);
  deepStrictEqual([made.ask({ "X-API-Key": key }), made.auth.hasCallers], ["UNAUTHENTICATED", false]);
});

Deno.test("CallerAuth reads a file that does not change once, however many ask [§5.2 known-until-a-change]", async () => {
  await using made = await makeAuth([{ name: "ann", key }]);
  for (let n = 0; n < 100; n++) strictEqual(made.ask({ "X-API-Key": key }), "w0/ann");
  strictEqual(made.reads(), 1);
});

Deno.test("CallerAuth takes a key that was rotated away until its time, also one that it knew [§5.2 rotated-until]", async () => {
  const previousUntil = "2026-10-08T12:01:00.000Z";
  const rotated = { name: "ann", keyHash: hashKey(other), previousKeyHash: hashKey(key), previousUntil };
  await using made = await makeAuth([rotated]);
  const both = () => [made.ask({ "X-API-Key": key }), made.ask({ "X-API-Key": other })];
  deepStrictEqual(both(), ["w0/ann", "w0/ann"]);
  await made.clock.advance(59_999);
  deepStrictEqual(both(), ["w0/ann", "w0/ann"]);
  await made.clock.advance(1);
  deepStrictEqual(both(), ["UNAUTHENTICATED", "w0/ann"]);
});

Deno.test("CallerAuth refuses a caller that expired, also one that it knew, and whose clock was set back [§5.2 expired]", async () => {
  const expires = "2026-10-08T12:01:00.000Z";
  await using made = await makeAuth([{ name: "ann", key, expires }, { name: "ben", key: other }]);
  const both = () => [made.ask({ "X-API-Key": key }), made.ask({ "X-API-Key": other })];
  deepStrictEqual(both(), ["w0/ann", "w0/ben"]);
  await made.clock.advance(60_000);
  deepStrictEqual(both(), ["UNAUTHENTICATED", "w0/ben"]);
  made.clock.jump(-60_000);
  deepStrictEqual(both(), ["w0/ann", "w0/ben"]);
});

Deno.test("CallerAuth answers 20 failures a minute and peer, then asks it to wait; other peers are let in [§5.2 failures-a-minute]", async () => {
  await using made = await makeAuth([{ name: "ann", key }]);
  for (let n = 0; n < 20; n++) {
    strictEqual(made.ask({ "X-API-Key": `wrong ${n}` }), "UNAUTHENTICATED");
    await made.clock.advance(1000);
  }
  strictEqual(made.ask({ "X-API-Key": "wrong" }), "TOO_MANY_REQUESTS 40");
  strictEqual(made.ask({}), "TOO_MANY_REQUESTS 40");
  strictEqual(made.ask({ "X-API-Key": key }, "192.0.2.2"), "w0/ann");
  strictEqual(made.ask({}, "192.0.2.2"), "UNAUTHENTICATED");
  await made.clock.advance(40_000);
  deepStrictEqual([made.ask({}), made.ask({})], ["UNAUTHENTICATED", "TOO_MANY_REQUESTS 1"]);
  await made.clock.advance(60_000);
  strictEqual(made.ask({ "X-API-Key": key }), "w0/ann");
});

Deno.test("CallerAuth lets a good key in though its address has failed too often: it may be a proxy's [§5.2 failures-a-minute]", async () => {
  await using made = await makeAuth([{ name: "ann", key }, { name: "ben", key: other }]);
  strictEqual(made.ask({ "X-API-Key": key }), "w0/ann");
  for (let n = 0; n < 20; n++) made.ask({ "X-API-Key": `wrong ${n}` });
  strictEqual(made.ask({ "X-API-Key": key }), "w0/ann");
  strictEqual(made.ask({ "X-API-Key": other }), "w0/ben");
  strictEqual(made.ask({ "X-API-Key": "wrong" }), "TOO_MANY_REQUESTS 60");
});

Deno.test("CallerAuth counts no successes [§5.2 failures-a-minute]", async () => {
  await using made = await makeAuth([{ name: "ann", key }]);
  for (let n = 0; n < 100; n++) strictEqual(made.ask({ "X-API-Key": key }), "w0/ann");
  strictEqual(made.ask({}), "UNAUTHENTICATED");
});

Deno.test("CallerAuth looks at all callers, whoever's the key is [§5.2 constant-time]", () => {
  const entries = Array.from({ length: 500 }, (_, n) => ({ name: `c${n}`, keyHash: hashKey(`key-${n}-0123456789`) }));
  const { callers } = parseCallers({ kind: "bytes", bytes: new TextEncoder().encode(JSON.stringify(entries)) }, "f");
  const looks = (presented: string) => {
    let count = 0;
    const counted = callers.map((caller) => ({
      ...caller,
      get by() {
        count++;
        return caller.by;
      },
    }));
    const read = () => ({ callers: counted, skipped: [], missing: false, malformed: false, problems: [] });
    const auth = new CallerAuth({
      workspaces: [{ name: "w", callers: { read } as unknown as CallersFile }],
      clock: createTestClock(),
    });
    auth.authenticate(new Headers({ "X-API-Key": presented }), "192.0.2.1");
    return count;
  };
  const all = looks("no such key");
  ok(all >= 500);
  // One more look at the one that was found: when does its key run out?
  deepStrictEqual(["key-0-0123456789", "key-499-0123456789"].map(looks), [
    looks("key-250-0123456789"),
    looks("key-7-0123456789"),
  ]);
  ok(looks("key-0-0123456789") - all <= 4);
});
