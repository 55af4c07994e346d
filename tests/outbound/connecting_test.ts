import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { type NameLookup, systemLookup } from "@/outbound/name_lookup.ts";
import { openBlackHole } from "@tests/fakes/black_hole.ts";
import { failsWith } from "@tests/outbound/failure.ts";
import { labTest } from "@tests/fakes/outbound_lab.ts";
import { isInNamespace, web } from "@tests/fakes/outbound_web.ts";

const never: NameLookup = () => new Promise(() => {});
const fixed = (...addresses: readonly string[]): NameLookup => () => Promise.resolve(addresses);

for (const [name, host] of [["does not exist", "nowhere.test"], ["has no address", "empty.test"]] as const) {
  labTest(`guarded() says that a name ${name} [§13 name-lookup]`, {}, async (lab) => {
    const { isRetryable } = await failsWith(lab.send("/", { host }), ["DNS_NOT_FOUND", "dns"]);
    strictEqual(isRetryable, true);
    deepStrictEqual(lab.dns.queries.toSorted(), [`A ${host}`, `AAAA ${host}`]);
  });
}

labTest(
  "guarded() takes a failing name server for a name that may be there later [§13 name-lookup]",
  {},
  async (lab) => {
    const { isRetryable, phase } = await failsWith(lab.send("/", { host: "servfail.test" }), ["DNS_NOT_FOUND", "dns"]);
    deepStrictEqual([isRetryable, phase], [true, "dns"]);
  },
);

labTest(
  "guarded() does not try the domains that this machine searches [§13 name-lookup]",
  { needs: ["namespace"] },
  async (lab) => {
    deepStrictEqual(await systemLookup("nowhere.test", { isAbsolute: false, clock: lab.clock }), [web.public]);
    await failsWith(lab.send("/", { host: "nowhere.test" }), ["DNS_NOT_FOUND", "dns"]);
  },
);

labTest(
  "guarded() asks once for each type of address, and for no name but the one [§13 name-lookup]",
  {},
  async (lab) => {
    strictEqual((await lab.send("/204", { host: "q1.hook.test" })).status, 204);
    deepStrictEqual(lab.dns.queries.toSorted(), ["A q1.hook.test", "AAAA q1.hook.test"]);
  },
);

labTest("guarded() does not wait for a lookup that never ends [§13 time-limits, §13 name-lookup]", {}, async (lab) => {
  const failing = failsWith(lab.send("/", { door: lab.door({ lookup: never }) }), ["DNS_TIMEOUT", "dns"]);
  await lab.clock.advance(5_000);
  await failing;
});

labTest(
  "guarded() does not wait for a name server that says nothing [§13 time-limits, §13 name-lookup]",
  {},
  async (lab) => {
    const failing = failsWith(lab.send("/", { host: "held.test" }), ["DNS_TIMEOUT", "dns"]);
    await lab.dns.asked("held.test");
    await lab.clock.advance(4_999);
    deepStrictEqual(lab.attempts, []);
    await lab.clock.advance(1);
    await failing;
  },
);

labTest(
  "guarded() goes to the next address at once when the first is refused [§13 race-order]",
  {},
  async (lab) => {
    const response = await lab.send("/204", { host: "dead.test" });
    deepStrictEqual([response.peer.address, lab.attempts], [web.public, [web.dead, web.public]]);
  },
);

labTest(
  "guarded() goes to the next address after 250 ms when the first does not answer [§13 race-order]",
  {},
  async (lab) => {
    using _hole = await openBlackHole(lab.port());
    const sending = lab.send("/204", { host: "blackhole.test" });
    await lab.until(() => lab.attempts.length === 1);
    await lab.clock.advance(249);
    deepStrictEqual(lab.attempts, [web.hole]);
    await lab.clock.advance(1);
    deepStrictEqual(lab.attempts, [web.hole, web.public]);
    strictEqual((await sending).peer.address, web.public);
  },
);

labTest(
  "guarded() says that it could not connect when all addresses are refused [§13 race-order]",
  {},
  async (lab) => {
    const dead = isInNamespace ? [web.dead, "2606:4700::99"] : [web.dead];
    const sending = lab.send("/", { door: lab.door({ lookup: fixed(...dead) }) });
    await failsWith(sending, ["CONNECT_FAILED", "connect"]);
    deepStrictEqual(lab.attempts.toSorted(), dead.toSorted());
  },
);

labTest("guarded() gives up an address that does not answer after 5 s [§13 time-limits]", {}, async (lab) => {
  using _hole = await openBlackHole(lab.port());
  const failing = failsWith(lab.send("/", { host: "hole.test" }), ["CONNECT_FAILED", "connect"]);
  await lab.until(() => lab.attempts.length === 1);
  await lab.clock.advance(5_000);
  await failing;
});

labTest("guarded() gives up connecting when all of it took too long [§13 time-limits]", {}, async (lab) => {
  using _hole = await openBlackHole(lab.port());
  const door = lab.door({ limits: { connectMs: 700 } });
  const failing = failsWith(lab.send("/", { host: "hole.test", door }), ["CONNECT_TIMEOUT", "connect"]);
  await lab.until(() => lab.attempts.length === 1);
  await lab.clock.advance(700);
  await failing;
});

labTest(
  "guarded() tries IPv6 first, and nothing more when it answers [§13 race-order]",
  { needs: ["ipv6"] },
  async (lab) => {
    const door = lab.door({ opensV6: true, lookup: fixed(web.dead, web.publicV6, web.public) });
    const response = await lab.send("/204", { door });
    deepStrictEqual([response.peer.address, lab.attempts], [web.publicV6, [web.publicV6]]);
  },
);

labTest("guarded() tries six addresses at most [§13 race-order]", {}, async (lab) => {
  const many = Array.from({ length: 40 }, (_, at) => web.public.replace(/\d+$/, String(100 + at)));
  const sending = lab.send("/", { door: lab.door({ lookup: fixed(...many) }) });
  await failsWith(sending, ["CONNECT_FAILED", "connect"]);
  deepStrictEqual(lab.attempts, many.slice(0, 6));
});
