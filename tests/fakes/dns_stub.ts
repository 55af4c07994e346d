import { createSocket, type Socket } from "node:dgram";
import { type DnsCode, type DnsRecord, encodeAnswer, parseQuestion } from "./dns_message.ts";

/** What a name gives, whichever of the two types is asked for; a function gives it by how often that type was. */
export type DnsEntry = readonly string[] | ((times: number) => readonly string[]) | DnsCondition;

/** A name that stands for another; a server that fails; one that says nothing before `release`. */
export type DnsCondition =
  | { readonly kind: "alias"; readonly target: string }
  | { readonly kind: "servfail" }
  | { readonly kind: "held" };

/** Names and what they give. `*.hook.test` is every name below; a name that is not there does not exist. */
export type DnsZone = Readonly<Record<string, DnsEntry>>;

interface Answer {
  readonly code?: DnsCode;
  readonly records?: readonly DnsRecord[];
}

/** A name server on UDP for tests, which keeps what it was asked. `Deno.listenDatagram` is not stable, Node's is. */
export class DnsStub implements AsyncDisposable {
  readonly #socket: Socket;
  readonly #zone: DnsZone;
  #held: (() => void)[] = [];
  #watchers: (() => void)[] = [];
  /** In the order they came: `A hook.test`. */
  readonly queries: string[] = [];

  private constructor(socket: Socket, zone: DnsZone) {
    this.#socket = socket;
    this.#zone = zone;
    socket.on("message", (query, { port, address }) => {
      this.#take(query, (answer) => socket.send(answer, port, address));
    });
  }

  /** Port 0 takes one that is free. */
  static async listen(zone: DnsZone, port = 0): Promise<DnsStub> {
    const socket = createSocket("udp4");
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.bind(port, "127.0.0.1", resolve);
    });
    return new DnsStub(socket, zone);
  }

  /** Where it listens, as `Deno.resolveDns` takes it. */
  get nameServer(): { readonly ipAddr: string; readonly port: number } {
    return { ipAddr: "127.0.0.1", port: this.#socket.address().port };
  }

  /** How often a name was asked for, by type. */
  timesAsked(name: string): { readonly A: number; readonly AAAA: number } {
    const count = (type: string) => this.queries.filter((query) => query === `${type} ${name}`).length;
    return { A: count("A"), AAAA: count("AAAA") };
  }

  /** Waits until a name was asked for by both types, so often. */
  async asked(name: string, times = 1): Promise<void> {
    for (;;) {
      const { A, AAAA } = this.timesAsked(name);
      if (A >= times && AAAA >= times) return;
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  /** Answers what was held, that there is no such name: also a query that nobody waits for must end. */
  release(): void {
    for (const answer of this.#held.splice(0)) answer();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.close(resolve));
  }

  #take(query: Uint8Array, send: (answer: Uint8Array) => void): void {
    const { name, type } = parseQuestion(query);
    this.queries.push(`${type} ${name}`);
    const entry = this.#entryOf(name);
    if (isCondition(entry) && entry.kind === "held") {
      this.#held.push(() => send(encodeAnswer(query, { code: "NXDOMAIN" })));
    } else send(encodeAnswer(query, this.#answer(name, type)));
    for (const look of this.#watchers.splice(0)) look();
  }

  #entryOf(name: string): DnsEntry | undefined {
    const wild = Object.keys(this.#zone).find((row) => row.startsWith("*.") && name.endsWith(row.slice(1)));
    return this.#zone[name] ?? (wild === undefined ? undefined : this.#zone[wild]);
  }

  #answer(name: string, type: string): Answer {
    const entry = this.#entryOf(name);
    if (entry === undefined) return { code: "NXDOMAIN" };
    if (isCondition(entry)) {
      if (entry.kind !== "alias") return { code: "SERVFAIL" };
      const { code, records = [] } = this.#answer(entry.target, type);
      return { code, records: [{ name, target: entry.target }, ...records] };
    }
    const times = this.queries.filter((query) => query === `${type} ${name}`).length;
    const addresses = typeof entry === "function" ? entry(times) : entry;
    return { records: addresses.filter((each) => each.includes(":") === (type === "AAAA")).map(toRecord) };
  }
}

function isCondition(entry: DnsEntry | undefined): entry is DnsCondition {
  return typeof entry === "object" && "kind" in entry;
}

const toRecord = (address: string) => ({ address });
