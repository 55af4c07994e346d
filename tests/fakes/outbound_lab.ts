import { strictEqual } from "node:assert/strict";
import { parseAddressRange } from "@/address_range.ts";
import { type NameLookup, nameServerLookup, systemLookup } from "@/outbound/name_lookup.ts";
import { Outbound, type OutboundOptions } from "@/outbound/outbound.ts";
import type { OutboundRequest, OutboundResponse } from "@/outbound/outbound_request.ts";
import { DnsStub } from "./dns_stub.ts";
import type { HostileServerName } from "./hostile_behaviours.ts";
import { ConnectionLog, type SeenConnection } from "./hostile_connection.ts";
import { readCertificate } from "./hostile_inner.ts";
import { HostileServer } from "./hostile_server.ts";
import { withPatience } from "./patience.ts";
import { ResettingServer } from "./resetting_server.ts";
import { createTestClock } from "./test_clock.ts";
import { isInNamespace, type Need, web, whyNot, zone } from "./outbound_web.ts";

/** Which servers a test has. The first is where `url` leads when nothing else is said. */
export type ServerName = HostileServerName | "reset";

/** What a test needs. */
export interface LabNeeds {
  /** Absent: the good one. */
  readonly servers?: readonly ServerName[];
  readonly needs?: readonly Need[];
}

/** Where in the web of a test. */
export interface Place {
  /** Absent: `hook.test`. */
  readonly host?: string;
  /** Absent: the first server. */
  readonly server?: ServerName;
}

/** What is sent, and through which door. */
export interface Sending extends Place, Partial<OutboundRequest> {
  readonly caller?: string;
  readonly door?: Outbound;
}

/** Ranges in their text, for `allow` and `deny`. */
export interface DoorOptions extends Partial<Omit<OutboundOptions, "allow" | "deny">> {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** The public address of IPv6 may be connected to. */
  readonly opensV6?: boolean;
}

/**
 * A made-up internet for one test: hostile servers, a name server, and doors that lead there.
 *
 * The clock stands still, so no limit of time is ever over by itself. The guard's own rules hold but for the addresses that
 * stand for public ones; in the namespace nothing is opened, and names go the way that they go in earnest.
 */
export class Lab implements AsyncDisposable {
  readonly #servers: ReadonlyMap<ServerName, HostileServer | ResettingServer>;
  readonly #log: ConnectionLog;
  readonly #released: PromiseWithResolvers<void>;
  readonly #doors: Outbound[] = [];
  readonly #lookups: Promise<unknown>[] = [];
  #door: Outbound | undefined;
  readonly clock = createTestClock();
  readonly dns: DnsStub;
  /** Every address that a door connected to. */
  readonly attempts: string[] = [];

  private constructor(parts: {
    readonly servers: ReadonlyMap<ServerName, HostileServer | ResettingServer>;
    readonly log: ConnectionLog;
    readonly released: PromiseWithResolvers<void>;
    readonly dns: DnsStub;
  }) {
    this.#servers = parts.servers;
    this.#log = parts.log;
    this.#released = parts.released;
    this.dns = parts.dns;
  }

  static async open({ servers: names = ["good"], needs = [] }: LabNeeds): Promise<Lab> {
    const [log, released] = [new ConnectionLog(), Promise.withResolvers<void>()];
    const addresses = [web.public, ...needs.includes("ipv6") ? [web.publicV6] : [], ...web.inside];
    const servers = new Map<ServerName, HostileServer | ResettingServer>();
    for (const name of names) {
      const shared = { log, released: released.promise };
      const server = name === "reset"
        ? await ResettingServer.listen({ ...shared, hostname: web.public })
        : await HostileServer.listen({ ...shared, name, addresses: [...new Set(addresses)] });
      servers.set(name, server);
    }
    return new Lab({ servers, log, released, dns: await DnsStub.listen(zone, isInNamespace ? 53 : 0) });
  }

  /** Who connected, in order; what a test itself connected is not there. */
  get connections(): readonly SeenConnection[] {
    return this.#log.all;
  }

  /** Asks this lab's name server: what the doors do when nothing else is said. */
  readonly lookup: NameLookup = (name, how) => {
    const ask = isInNamespace ? systemLookup : nameServerLookup(this.dns.nameServer);
    const answer = ask(name, how);
    this.#lookups.push(answer);
    return answer;
  };

  /** The port of a server. */
  port(server: ServerName = [...this.#servers.keys()][0]!): number {
    return this.#servers.get(server)!.port;
  }

  /** A URL that leads to a server of this lab: `https://hook.test:40001/echo`. */
  url(path: string, { host = "hook.test", server = [...this.#servers.keys()][0] }: Place = {}): string {
    return `${server === "http" ? "http" : "https"}://${host}:${this.port(server)}${path}`;
  }

  /** Another door. */
  door({ allow = [], deny = [], opensV6 = false, ...options }: DoorOptions = {}): Outbound {
    const door = new Outbound({
      ...{ clock: this.clock, caCerts: [readCertificate("ca.pem")], lookup: this.lookup },
      onAttempt: (address) => {
        this.attempts.push(address);
        this.#log.changed();
      },
      allow: [...web.opened, ...opensV6 ? web.openedV6 : [], ...allow].map(toRange),
      deny: deny.map(toRange),
      ...options,
    });
    this.#doors.push(door);
    return door;
  }

  /** Sends to a server of this lab, or to a whole URL, as to a stranger's. */
  send(where: string, { host, server, door, ...request }: Sending = {}): Promise<OutboundResponse> {
    const url = where.startsWith("/") ? this.url(where, { host, server }) : where;
    const limits = { bytesMax: 200 * 1024 * 1024, totalMs: 600_000, headMs: 30_000, idleMs: 20_000 };
    const sending = (door ?? (this.#door ??= this.door())).guarded(url, { caller: "bot", ...limits, ...request });
    sending.catch(() => {}); // a test that fails before it waits for this must say why it failed, not this
    return sending;
  }

  /** Waits until something was seen by the servers. */
  until(isSeen: (connections: readonly SeenConnection[]) => boolean): Promise<void> {
    return this.#log.until(isSeen);
  }

  /** Waits until every connection that was made is among `connections`. */
  async allSeen(): Promise<void> {
    for (const server of this.#servers.values()) if (server instanceof HostileServer) await server.takeAll();
  }

  /** Lets the servers and the name server do what they held back. */
  release(): void {
    this.#released.resolve();
    this.dns.release();
  }

  /** Waits until every socket is closed by who opened it, and says that nothing waits for the clock any more. */
  async settled(): Promise<void> {
    await this.until((all) => all.every(({ isOpen }) => !isOpen));
    strictEqual(this.clock.pending, 0, "something still waits for the clock");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    for (const server of this.#servers.values()) await server[Symbol.asyncDispose]();
    for (const door of this.#doors) await door[Symbol.asyncDispose]();
    await Promise.allSettled(this.#lookups); // those that nobody waited for end by themselves
    await this.dns[Symbol.asyncDispose]();
  }
}

function toRange(text: string) {
  const range = parseAddressRange(text);
  if (range === undefined) throw new Error(`No range: ${text}`);
  return range;
}

/** One test in a lab of its own; at its end every socket must be closed without help. */
export function labTest(name: string, needs: LabNeeds, test: (lab: Lab) => Promise<void>): void {
  const reason = whyNot(needs.needs ?? []);
  Deno.test({
    name,
    ignore: reason !== undefined,
    async fn() {
      await using lab = await Lab.open(needs);
      await withPatience(test(lab).then(() => lab.settled()), 60_000);
    },
  });
}
