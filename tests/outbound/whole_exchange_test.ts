import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { OutboundPhase } from "@/outbound/outbound_error.ts";
import { readCertificate } from "@tests/fakes/hostile_inner.ts";
import { openBlackHole } from "@tests/fakes/black_hole.ts";
import { failsWith } from "@tests/outbound/failure.ts";
import { type Lab, labTest, type Sending, type ServerName } from "@tests/fakes/outbound_lab.ts";
import type { OneExchange } from "@tests/outbound/one_exchange.ts";
import { isInNamespace, web } from "@tests/fakes/outbound_web.ts";

labTest("guarded() sends nothing when it was ended before it began [§13 ends-whole]", {}, async (lab) => {
  await failsWith(lab.send("/echo", { signal: AbortSignal.abort() }), ["ABORTED", "wait"]);
  deepStrictEqual([lab.dns.queries, lab.attempts], [[], []]);
});

/** Where an exchange is ended: how it gets there, and how to know that it is there. */
const stops: readonly {
  readonly phase: OutboundPhase;
  readonly path?: string;
  readonly sending?: Sending;
  readonly server?: ServerName;
  readonly isThere: (lab: Lab) => Promise<void>;
}[] = [
  { phase: "dns", sending: { host: "held.test" }, isThere: (lab) => lab.dns.asked("held.test") },
  { phase: "connect", sending: { host: "hole.test" }, isThere: (lab) => lab.until(() => lab.attempts.length === 1) },
  {
    phase: "tls",
    server: "silent",
    isThere: (lab) => lab.until(([first]) => first !== undefined && first.received > 0),
  },
  { phase: "send", path: "/never", isThere: (lab) => lab.until(([first]) => first?.request !== undefined) },
  {
    phase: "body",
    path: "/slow-body",
    isThere: (lab) => lab.until(([first]) => first !== undefined && first.pieces > 5),
  },
];

for (const { phase, path = "/", sending, server = "good", isThere } of stops) {
  for (const how of ["by its signal", "when the host ends"] as const) {
    labTest(`guarded() ends in phase ${phase} ${how} [§13 ends-whole]`, { servers: [server] }, async (lab) => {
      using _hole = await openBlackHole(lab.port());
      const [stop, door] = [new AbortController(), lab.door()];
      const failing = failsWith(lab.send(path, { ...sending, door, signal: stop.signal }), [
        how === "by its signal" ? "ABORTED" : "CLOSED",
        phase,
      ]);
      await isThere(lab);
      if (how === "by its signal") stop.abort();
      else await door[Symbol.asyncDispose]();
      await failing;
      lab.release(); // closed in the handshake, Deno keeps the socket until the server hangs up
    });
  }
}

labTest(
  "guarded() tells a stranger the same of what is not there, forbidden, refused and not to be trusted [§13 one-answer, case 31]",
  {
    ...{ servers: ["good", "self_signed"] },
  },
  async (lab) => {
    const dead = lab.door({ lookup: () => Promise.resolve([web.dead]) });
    const failures = [
      await failsWith(lab.send("/", { host: "loopback.test" }), ["ADDRESS_FORBIDDEN", "policy"]),
      await failsWith(lab.send("/", { host: web.loopback }), ["ADDRESS_FORBIDDEN", "policy"]),
      await failsWith(lab.send("/", { host: "nowhere.test" }), ["DNS_NOT_FOUND", "dns"]),
      await failsWith(lab.send("/", { door: dead }), ["CONNECT_FAILED", "connect"]),
      await failsWith(lab.send("/", { server: "self_signed" }), ["TLS_FAILED", "tls"]),
    ];
    deepStrictEqual(new Set(failures.map(({ publicMessage }) => publicMessage)).size, 1);
  },
);

labTest("guarded() makes 200 exchanges at once, and leaves no socket open [§13 ends-whole]", {}, async (lab) => {
  const all = 200;
  const limits = { exchangesMax: all, perHostMax: all, perCallerMax: all, perCallerHostMax: all, tlsBegunMax: all };
  const door = lab.door({ limits, lookup: () => Promise.resolve([web.public]) }); // 400 queries at once get lost
  const statuses = await Promise.all(Array.from({ length: all }, async () => {
    await using response = await lab.send("/echo", { door });
    await response.bytes();
    return response.status;
  }));
  deepStrictEqual(statuses, Array(all).fill(200));
  await lab.settled();
  strictEqual(lab.connections.length, all);
});

/** Makes one exchange in a process of its own. */
async function outcomeOf(
  lab: Lab,
  flags: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const exchange: OneExchange = {
    ...{ url: lab.url("/204"), caCerts: [readCertificate("ca.pem")], allow: web.opened },
    nameServer: isInNamespace ? undefined : lab.dns.nameServer,
  };
  const program = import.meta.resolve("@tests/outbound/one_exchange.ts");
  const args = [
    "run",
    "--quiet",
    "--no-prompt",
    "--no-check",
    "--cached-only",
    ...flags,
    program,
    JSON.stringify(exchange),
  ];
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, env: { ...env }, stdin: "null" }).output();
  return new TextDecoder().decode(stdout).trim() || new TextDecoder().decode(stderr);
}

labTest("guarded() does not look at variables that name proxies [§13 no-proxy]", {}, async (lab) => {
  const names = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
  const proxies = Object.fromEntries(names.map((name) => [name, "http://127.0.0.1:9"]));
  strictEqual(await outcomeOf(lab, ["--allow-net"], { ...proxies, NODE_USE_ENV_PROXY: "1" }), "204");
});

labTest("guarded() needs no right but the network, and says when it has none [§13 rights]", {}, async (lab) => {
  strictEqual(await outcomeOf(lab, ["--allow-net"]), "204");
  strictEqual(await outcomeOf(lab, []), "PERMISSION_DENIED");
  strictEqual(await outcomeOf(lab, ["--allow-net", `--deny-net=${web.public}`]), "PERMISSION_DENIED");
});
