import { deepStrictEqual, rejects } from "node:assert/strict";
import { systemLookup } from "./name_lookup.ts";

type Answer = readonly string[] | Error;

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

const { NotFound, NotCapable, TimedOut } = Deno.errors;
const none = new NotFound("no records");

Deno.test("systemLookup() asks once for each family, for the name as it is and with no signal [§13 name-lookup]", async () => {
  using servers = takeNameServers({ A: ["1.0.0.1", "1.0.0.2"], AAAA: ["2001::1"] });
  deepStrictEqual(await systemLookup("hook.test", { isAbsolute: true }), ["2001::1", "1.0.0.1", "1.0.0.2"]);
  deepStrictEqual(servers.asked, [["hook.test.", "AAAA", {}], ["hook.test.", "A", {}]]);
});

Deno.test("systemLookup() lets the search list of the machine complete a name only when it may", async () => {
  using servers = takeNameServers({ A: ["10.0.0.1"], AAAA: none });
  deepStrictEqual(await systemLookup("desk", { isAbsolute: false }), ["10.0.0.1"]);
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
    await rejects(systemLookup("hook.test", { isAbsolute: true }), { name: "OutboundError", code, phase: "dns" });
  });
}

Deno.test("systemLookup() gives what it has when one family fails", async () => {
  using _servers = takeNameServers({ A: ["1.0.0.1"], AAAA: new TimedOut("late") });
  deepStrictEqual(await systemLookup("hook.test", { isAbsolute: true }), ["1.0.0.1"]);
});
