import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { failsWith } from "@tests/outbound/failure.ts";
import { type Lab, type LabNeeds, labTest } from "@tests/fakes/outbound_lab.ts";
import { type Need, web } from "@tests/fakes/outbound_web.ts";

/** Says that nothing came but what was sent to the public address. */
async function nothingInside(lab: Lab): Promise<void> {
  await lab.allSeen();
  deepStrictEqual(lab.connections.filter(({ address }) => address !== web.public), []);
  deepStrictEqual(lab.attempts.filter((address) => address !== web.public), []);
}

labTest(
  "guarded() judges a name anew when it leads elsewhere the next time [§13 judged-when-connected, case 25]",
  {},
  async (lab) => {
    const answers = [[web.public], [web.loopback]];
    const door = lab.door({ lookup: () => Promise.resolve(answers.shift()!) });
    strictEqual((await (await lab.send("/echo", { host: "rebind.test", door })).text()).includes(web.public), true);
    await failsWith(lab.send("/echo", { host: "rebind.test", door }), ["ADDRESS_FORBIDDEN", "policy"]);
    await nothingInside(lab);
  },
);

labTest(
  "guarded() judges what a name server says each time, when it says this and that in turn [§13 judged-when-connected, case 25]",
  {},
  async (lab) => {
    for (const isGood of [true, false, true, false, true, false]) {
      const sending = lab.send("/echo", { host: "flip.test" });
      if (isGood) strictEqual((await (await sending).text()).includes(web.public), true);
      else await failsWith(sending, ["ADDRESS_FORBIDDEN", "policy"]);
    }
    deepStrictEqual(lab.dns.timesAsked("flip.test"), { A: 6, AAAA: 6 });
    await nothingInside(lab);
  },
);

labTest(
  "guarded() asks for the addresses of a name once, so that there is no second answer [§13 judged-when-connected, case 25]",
  {},
  async (lab) => {
    strictEqual((await lab.send("/204", { host: "rebind.test" })).status, 204);
    deepStrictEqual(lab.dns.queries.toSorted(), ["A rebind.test", "AAAA rebind.test"]);
    await nothingInside(lab);
  },
);

labTest(
  "guarded() leaves out those addresses of a name that are forbidden [§13 every-address-judged]",
  {},
  async (lab) => {
    const { peer } = await lab.send("/204", { host: "mixed.test" });
    strictEqual(peer.address, web.public);
    await nothingInside(lab);
  },
);

labTest(
  "guarded() goes to no forbidden address of a name when the allowed one is not there [§13 every-address-judged]",
  {},
  async (lab) => {
    await failsWith(lab.send("/204", { host: "mixed-dead.test" }), ["CONNECT_FAILED", "connect"]);
    deepStrictEqual(lab.attempts, [web.dead]);
    await lab.allSeen();
    deepStrictEqual(lab.connections, []);
  },
);

const forbidden: readonly { readonly host: string; readonly needs?: readonly Need[] }[] = [
  ...["private.test", "loopback.test", "metadata.test", "mapped.test", "nat64.test", "zero.test", "cname.test"],
  ...["localhost", "LOCALHOST.", "127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "0", "[::1]", "[::]"],
  ...["[::ffff:127.0.0.1]", "[::ffff:169.254.169.254]", "[::7f00:1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]"],
  ...["[2002:7f00:1::]", "[fd00::1]", "[fd00:ec2::254]", "[fe80::1]", "169.254.169.254", "168.63.129.16"],
  ...["100.64.0.1", "100.100.100.200", "198.18.0.1", "224.0.0.1", "255.255.255.255", "１２７.0.0.1", "127。0。0。1"],
  ...[web.private],
].map((host) => ({ host }));
const forbiddenByHosts = ["hosts.test", "onlyhosts.test"].map((host) => ({ host, needs: ["namespace"] as const }));

for (const { host, needs } of [...forbidden, ...forbiddenByHosts]) {
  labTest(
    `guarded() connects to nobody at ${host} [§13 every-address-judged, case 25, case 31]`,
    { needs },
    async (lab) => {
      const { isRetryable, isRefusal } = await failsWith(lab.send("/echo", { host }), ["ADDRESS_FORBIDDEN", "policy"]);
      deepStrictEqual([isRetryable, isRefusal], [false, true]);
      deepStrictEqual(lab.attempts, []);
      await nothingInside(lab);
    },
  );
}

const withHttp: LabNeeds = { servers: ["http"] };

labTest(
  "guarded() with allowPrivate opens loopback and http, and nothing that is never meant [§13 private-opens]",
  withHttp,
  async (lab) => {
    const door = lab.door({ allowPrivate: true });
    for (const host of [web.loopback, web.private]) strictEqual((await lab.send("/204", { host, door })).status, 204);
    for (const host of ["169.254.169.254", "[::ffff:127.0.0.1]", "0.0.0.0", "[64:ff9b::7f00:1]", "168.63.129.16"]) {
      await failsWith(lab.send("/echo", { host, door }), ["ADDRESS_FORBIDDEN", "policy"]);
    }
    deepStrictEqual(lab.attempts, [web.loopback, web.private]);
  },
);

labTest(
  "guarded() without allowPrivate takes no http, not even to the public [§13 url-form]",
  withHttp,
  async (lab) => {
    await failsWith(lab.send("/echo"), ["SCHEME_FORBIDDEN", "url"]);
    deepStrictEqual(lab.dns.queries, []);
  },
);

labTest(
  "guarded() lets what is denied win over what is public, opened or allowed [§13 allow-deny]",
  {},
  async (lab) => {
    for (const deny of [[web.public], [`${web.public.replace(/\d+$/, "0")}/24`], ["0.0.0.0/0"]]) {
      const door = lab.door({ deny, allow: [web.public], allowPrivate: true });
      await failsWith(lab.send("/echo", { door }), ["ADDRESS_FORBIDDEN", "policy"]);
    }
    deepStrictEqual(lab.attempts, []);
  },
);

labTest("guarded() opens just the range that is allowed [§13 allow-deny]", {}, async (lab) => {
  const door = lab.door({ allow: [web.private], lookup: () => Promise.resolve([web.private, web.loopback]) });
  strictEqual((await lab.send("/204", { door })).peer.address, web.private);
  await failsWith(lab.send("/echo", { host: web.loopback, door }), ["ADDRESS_FORBIDDEN", "policy"]);
  deepStrictEqual(lab.attempts, [web.private]);
});

labTest(
  "guarded() sends no byte to a peer that is another than was judged [§13 judged-when-connected]",
  {},
  async (lab) => {
    const door = lab.door({ allow: ["0.0.0.0"], lookup: () => Promise.resolve(["0.0.0.0"]) });
    const { isRefusal } = await failsWith(lab.send("/echo", { door }), ["PEER_MISMATCH", "connect"]);
    await lab.allSeen();
    deepStrictEqual([isRefusal, lab.connections.map(({ address, received }) => [address, received])], [
      ...[true, [["127.0.0.1", 0]]],
    ]);
  },
);

labTest(
  "guarded() takes nothing for an address that is not written as one [§13 every-address-judged]",
  {},
  async (lab) => {
    const garbage = ["fe80::1%lo", "127.1", "localhost", "", "0x7f000001", "127.0.0.1 ", "hook.test", "1.2.3.4/0"];
    const door = lab.door({ lookup: () => Promise.resolve(garbage) });
    await failsWith(lab.send("/echo", { door }), ["DNS_NOT_FOUND", "dns"]);
    deepStrictEqual(lab.attempts, []);
  },
);

labTest(
  "guarded() in a namespace goes by the name servers and the hosts file of the machine [§13 judged-when-connected]",
  {
    needs: ["namespace"],
  },
  async (lab) => {
    const door = lab.door({ lookup: undefined });
    strictEqual((await lab.send("/204", { door })).peer.address, web.public);
    await failsWith(lab.send("/204", { door, host: "hosts.test" }), ["ADDRESS_FORBIDDEN", "policy"]);
    deepStrictEqual(lab.dns.timesAsked("hook.test"), { A: 1, AAAA: 1 });
    strictEqual(lab.dns.timesAsked("hosts.test").A, 0);
  },
);
