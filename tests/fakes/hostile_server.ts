import { type HostileServerName, listenInner, serveConnection } from "./hostile_behaviours.ts";
import type { ConnectionLog } from "./hostile_connection.ts";
import type { InnerTls } from "./hostile_inner.ts";

/** Where and as what a server listens. */
export interface HostileServerOptions {
  readonly name: HostileServerName;
  /** All get the same port. */
  readonly addresses: readonly string[];
  readonly log: ConnectionLog;
  /** What answers may wait for. */
  readonly released: Promise<void>;
}

/** A server that does what its name says to all who connect, and answers as the path of a request says. */
export class HostileServer implements AsyncDisposable {
  readonly #options: HostileServerOptions;
  readonly #listeners: readonly Deno.TcpListener[];
  readonly #inner: InnerTls | undefined;
  readonly #open = new Set<Deno.TcpConn>();
  readonly #work = new Set<Promise<void>>();
  /** All addresses listen on it. */
  readonly port: number;

  private constructor(options: HostileServerOptions, inner: InnerTls | undefined) {
    this.#options = options;
    this.#inner = inner;
    this.#listeners = listenOnAll(options.addresses);
    this.port = portOf(this.#listeners[0]!.addr);
    for (const listener of this.#listeners) this.#track(this.#accept(listener));
  }

  static async listen(options: HostileServerOptions): Promise<HostileServer> {
    return new HostileServer(options, await listenInner(options.name));
  }

  /** Waits until all connections that were made before are seen: each address is connected to once more, and takes in order. */
  async takeAll(): Promise<void> {
    const { log, addresses } = this.#options;
    for (const hostname of addresses) {
      using probe = await Deno.connect({ hostname, port: this.port });
      const from = portOf(probe.localAddr);
      await log.until((all) => all.some((each) => each.from === from));
      log.remove(log.all.find((each) => each.from === from)!);
    }
  }

  /** Closes all, and waits until nothing is at work with it. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const listener of this.#listeners) listener.close();
    for (const connection of this.#open) closeQuietly(connection);
    await Promise.all(this.#work);
    await this.#inner?.[Symbol.asyncDispose]();
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#work.delete(tracked));
    this.#work.add(tracked);
  }

  async #accept(listener: Deno.TcpListener): Promise<void> {
    for await (const connection of listener) this.#track(this.#take(connection));
  }

  async #take(connection: Deno.TcpConn): Promise<void> {
    const { name, log, released } = this.#options;
    this.#open.add(connection);
    const seen = log.add(connection.localAddr as Deno.NetAddr, portOf(connection.remoteAddr));
    try {
      connection.setNoDelay(true);
      await serveConnection(name, connection, { seen, log, released, inner: this.#inner });
    } catch (error) {
      if (!endings.some((ending) => error instanceof ending)) throw error;
    } finally {
      this.#open.delete(connection);
      closeQuietly(connection);
      seen.isOpen = false;
      log.changed();
    }
  }
}

/** How connections end that a client refused or left. */
const endings = [
  ...[Deno.errors.BrokenPipe, Deno.errors.ConnectionReset, Deno.errors.ConnectionAborted, Deno.errors.NotConnected],
  ...[Deno.errors.UnexpectedEof, Deno.errors.InvalidData, Deno.errors.BadResource, Deno.errors.Interrupted],
];

function closeQuietly(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

/** A port that is free on the first address may be taken on the next; then another is tried. */
function listenOnAll([first, ...others]: readonly string[]): readonly Deno.TcpListener[] {
  for (let tries = 0;; tries++) {
    const listeners = [Deno.listen({ hostname: first!, port: 0 })];
    try {
      const port = portOf(listeners[0]!.addr);
      for (const hostname of others) listeners.push(Deno.listen({ hostname, port }));
      return listeners;
    } catch (error) {
      for (const listener of listeners) listener.close();
      if (!(error instanceof Deno.errors.AddrInUse) || tries > 50) throw error;
    }
  }
}

const portOf = (address: Deno.Addr) => (address as Deno.NetAddr).port;
