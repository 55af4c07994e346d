import type { DnsZone } from "./dns_stub.ts";

/** The addresses of a made-up internet on this machine, by what they are for the guard. */
export interface Web {
  /** Where the hostile servers listen for whoever may come. */
  readonly public: string;
  readonly publicV6: string;
  /** Public, and nobody listens. */
  readonly dead: string;
  /** Public, and does not answer. */
  readonly hole: string;
  readonly private: string;
  readonly loopback: string;
  /** Where the servers listen too, to see who comes that may not. */
  readonly inside: readonly string[];
  /** What the guard must be told to open, since it is not public in truth; nothing where it is. */
  readonly opened: readonly string[];
  readonly openedV6: readonly string[];
}

/** On any Linux: all of 127.0.0.0/8 is this machine. */
const portableWeb: Web = {
  ...{ public: "127.0.1.1", publicV6: "::1", dead: "127.0.1.99", hole: "127.0.1.77" },
  ...{ private: "127.0.2.1", loopback: "127.0.0.1", inside: ["127.0.0.1", "127.0.2.1"] },
  ...{ opened: ["127.0.1.0/24"], openedV6: ["::1"] },
};

/** In a network namespace of its own, whose only addresses these are (`namespace_test.ts`). */
const namespaceWeb: Web = {
  ...{ public: "93.184.216.34", publicV6: "2606:4700::1111", dead: "93.184.216.99", hole: "93.184.216.77" },
  ...{ private: "10.0.0.1", loopback: "127.0.0.1" },
  ...{ inside: ["127.0.0.1", "::1", "10.0.0.1", "169.254.169.254", "fd00::1"], opened: [], openedV6: [] },
};

/** All addresses that the namespace gets, besides those of loopback. */
export const namespaceAddresses: readonly string[] = [
  ...[namespaceWeb.public, namespaceWeb.publicV6, namespaceWeb.dead, namespaceWeb.hole],
  ...namespaceWeb.inside.filter((address) => address !== "127.0.0.1" && address !== "::1"),
];

/** Set for the tests that run in the namespace. */
export const namespaceVariable = "A2A_TEST_NAMESPACE";
export const isInNamespace = Deno.env.get(namespaceVariable) !== undefined;

export const web: Web = isInNamespace ? namespaceWeb : portableWeb;

/** What a test may need that is not there on every machine. */
export type Need = "ipv6" | "namespace" | "node-tls";

/** Says why a test that needs these cannot run here; undefined when it can. */
export function whyNot(needs: readonly Need[]): string | undefined {
  if (Deno.build.os !== "linux") return "127.0.1.1 is this machine on Linux only";
  if (needs.includes("namespace") && !isInNamespace) return "it needs a network namespace";
  if (needs.includes("ipv6") && !isListenable(web.publicV6)) return "there is no IPv6";
  if (needs.includes("node-tls") && !canNodeTls()) return "Node's TLS servers do not work before Deno 2.9";
  return undefined;
}

function isListenable(hostname: string): boolean {
  try {
    using _listener = Deno.listen({ hostname, port: 0 });
    return true;
  } catch {
    return false;
  }
}

function canNodeTls(): boolean {
  const [major = 0, minor = 0] = Deno.version.deno.split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 9);
}

/** What the name server of this web says. */
export const zone: DnsZone = {
  "hook.test": [web.public],
  "*.hook.test": [web.public],
  "v6.test": [web.publicV6],
  "mixed.test": [web.private, web.public, web.loopback],
  "mixed-dead.test": [web.private, web.dead, web.loopback],
  "dead.test": [web.dead, web.public],
  "blackhole.test": [web.hole, web.public],
  "hole.test": [web.hole],
  "private.test": [web.private, web.loopback, "fd00::1"],
  "loopback.test": [web.loopback],
  "metadata.test": ["169.254.169.254"],
  "mapped.test": ["::ffff:7f00:1"],
  "nat64.test": ["64:ff9b::7f00:1"],
  "zero.test": ["0.0.0.0", "::"],
  "cname.test": { kind: "alias", target: "loopback.test" },
  "flip.test": (times) => [times % 2 === 1 ? web.public : web.loopback],
  "rebind.test": (times) => [times === 1 ? web.public : web.loopback],
  "hosts.test": [web.public], // the namespace's hosts file says otherwise
  "empty.test": [],
  "servfail.test": { kind: "servfail" },
  "held.test": { kind: "held" },
};

/** The hosts file of the namespace. */
export const namespaceHosts = [
  ...["127.0.0.1 localhost", "::1 localhost"],
  ...[`${web.loopback} hosts.test`, `${web.private} onlyhosts.test`, ""],
].join("\n");
