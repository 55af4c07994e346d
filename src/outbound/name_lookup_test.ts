import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { systemLookup } from "./name_lookup.ts";

type Answer = readonly string[] | Error | Promise<readonly string[]>;

/** Answers for the name servers until it is disposed of, and keeps what they were asked. */
function takeNameServers(answers: { readonly A: Answer; readonly AAAA: Answer }) {
  const asked: unknown[] = [];
  const { resolveDns } = Deno;
  const answer = (name: string, type: "A" | "AAAA", ...more: readonly unknown[]) => {
    asked.push([name, type, ...more]);
    const given = answers[type];
    return given instanceof Error ? Promise.reject(given) : Promise.resolve(given);
  };
  Object.assign(Deno, { resolveDns: answer });
  return { asked, [Symbol.dispose]: () => void Object.assign(Deno, { resolveDns }) };
}

const clock = createTestClock();
const { NotFound, NotCapable, TimedOut } = Deno.errors;
const none = new NotFound("no records");

Deno.test("systemLookup() asks once for each family, for the name as it is and with no signal [§13 name-lookup]", async () => {
  using servers = takeNameServers({ A: ["1.0.0.1", "1.0.0.2"], AAAA: ["2001::1"] });
  deepStrictEqual(await systemLookup("hook.test", { isAbsolute: true, clock }), ["2001::1", "1.0.0.1", "1.0.0.2"]);
  deepStrictEqual(servers.asked, [["hook.test.", "AAAA", {}], ["hook.test.", "A", {}]]);
});

Deno.test("systemLookup() lets the search list of the machine complete a name only when it may", async () => {
  using servers = takeNameServers({ A: ["10.0.0.1"], AAAA: none });
  deepStrictEqual(await systemLookup("desk", { isAbsolute: false, clock }), ["10.0.0.1"]);
  deepStrictEqual(servers.asked, [["desk", "AAAA", {}], ["desk", "A", {}]]);
});

const failures = [
  { name: "no such name", A: none, AAAA: none, code: "DNS_NOT_FOUND" },
  { name: "no addresses", A: [], AAAA: [], code: "DNS_NOT_FOUND" },
  { name: "a server that does not answer", A: none, AAAA: new TimedOut("late"), code: "DNS_FAILED" },
  {
    name: "a right that is missing",
    A: new NotCapable("no net"),
    AAAA: new TimedOut("late"),
    code: "PERMISSION_DENIED",
  },
];

for (const { name, code, ...answers } of failures) {
  Deno.test(`systemLookup() makes ${code} of ${name}`, async () => {
    using _servers = takeNameServers(answers);
    await rejects(systemLookup("hook.test", { isAbsolute: true, clock }), {
      name: "OutboundError",
      code,
      phase: "dns",
    });
  });
}

Deno.test("systemLookup() gives what it has when one family fails", async () => {
  using _servers = takeNameServers({ A: ["1.0.0.1"], AAAA: new TimedOut("late") });
  deepStrictEqual(await systemLookup("hook.test", { isAbsolute: true, clock }), ["1.0.0.1"]);
});

for (const [slow, addresses] of [["AAAA", ["1.0.0.1"]], ["A", ["2001::1"]]] as const) {
  Deno.test(`systemLookup() does not wait more than 250 ms for ${slow} when it has addresses [§13 name-lookup]`, async () => {
    const clock = createTestClock();
    const never = new Promise<never>(() => {});
    using _servers = takeNameServers({ A: addresses, AAAA: addresses, [slow]: never });
    let isOver = false;
    const looked = systemLookup("hook.test", { isAbsolute: true, clock }).finally(() => isOver = true);
    await clock.advance(249);
    strictEqual(isOver, false);
    await clock.advance(1);
    deepStrictEqual(await looked, addresses);
    strictEqual(clock.pending, 0);
  });
}

Deno.test("systemLookup() takes what comes within 250 ms of the first, IPv6 first, and leaves no timer [§13 name-lookup]", async () => {
  const clock = createTestClock();
  const late = Promise.withResolvers<readonly string[]>();
  using _servers = takeNameServers({ A: ["1.0.0.1"], AAAA: late.promise });
  const looked = systemLookup("hook.test", { isAbsolute: true, clock });
  await clock.advance(200);
  late.resolve(["2001::1"]);
  deepStrictEqual(await looked, ["2001::1", "1.0.0.1"]);
  strictEqual(clock.pending, 0);
});

Deno.test("systemLookup() waits for both families as long as neither has addresses [§13 name-lookup]", async () => {
  const clock = createTestClock();
  const late = Promise.withResolvers<readonly string[]>();
  using _servers = takeNameServers({ A: late.promise, AAAA: none });
  const looked = systemLookup("hook.test", { isAbsolute: true, clock });
  await clock.advance(4_000);
  late.resolve(["1.0.0.1"]);
  deepStrictEqual(await looked, ["1.0.0.1"]);
});
