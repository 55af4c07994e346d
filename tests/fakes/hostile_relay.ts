import { type ConnectionLog, type SeenConnection, writeAll } from "./hostile_connection.ts";
import { readRecord, serverNameOf, tlsApplicationData, tlsHeaderBytes, versionOf } from "./tls_record.ts";

/** A record of TLS 1.3 with nothing but the alert that no more will come. */
const closeNotifyBytes = tlsHeaderBytes + 2 + 1 + 16;

/**
 * Carries TLS records between a client and a server that terminates TLS, and sees what neither tells: the name asked for, the
 * version, and how many bytes came. It can do to the connection what TLS servers never do by themselves.
 */
export class TlsRelay {
  readonly #client: Deno.TcpConn;
  readonly #server: Deno.TcpConn;
  readonly #seen: SeenConnection;
  readonly #log: ConnectionLog;
  /**
   * The request waits for the tickets that the server of TLS 1.3 sends after the handshake: else the system would hold the
   * answer back for 40 ms, until they are acknowledged. Deno's servers cannot be told to send at once.
   */
  readonly #tickets = Promise.withResolvers<void>();
  #isShaken = false;
  #withholdsEnd = false;
  readonly #isDeafUntil: Promise<void> | undefined;

  /** `isDeafUntil`: takes nothing of the client after the first piece of its request, not even that it hangs up, until then. */
  constructor(
    ends: { readonly client: Deno.TcpConn; readonly server: Deno.TcpConn },
    options: { readonly seen: SeenConnection; readonly log: ConnectionLog; readonly isDeafUntil?: Promise<void> },
  ) {
    this.#client = ends.client;
    this.#server = ends.server;
    this.#seen = options.seen;
    this.#log = options.log;
    this.#isDeafUntil = options.isDeafUntil;
  }

  /** Carries until both ends have closed, or one is broken. */
  async run(): Promise<void> {
    await Promise.all([this.#carryToServer(), this.#carryToClient()].map((way) => way.catch(() => this.close())));
    this.close();
  }

  /** From now on the client is not told that the server ends: the connection closes without it. */
  withholdEnd(): void {
    this.#withholdsEnd = true;
  }

  /** Closes both ends. */
  close(): void {
    this.#tickets.resolve();
    for (const connection of [this.#client, this.#server]) {
      try {
        connection.close();
      } catch (error) {
        if (!(error instanceof Deno.errors.BadResource)) throw error;
      }
    }
  }

  async #carryToServer(): Promise<void> {
    for (let encrypted = 0;;) {
      const record = await readRecord(this.#client);
      if (record === undefined) return await this.#server.closeWrite();
      if (this.#seen.received === 0) this.#seen.serverName = serverNameOf(record);
      this.#seen.received += record.bytes.length;
      this.#log.changed();
      if (record.type === tlsApplicationData) encrypted++;
      if (encrypted === 1) this.#isShaken = true;
      else if (encrypted === 2 && this.#seen.version === "1.3") await this.#tickets.promise;
      await writeAll(this.#server, record.bytes);
      if (encrypted === 2 && this.#isDeafUntil !== undefined) {
        this.#seen.pieces++;
        this.#log.changed();
        await this.#isDeafUntil;
        return this.close();
      }
    }
  }

  async #carryToClient(): Promise<void> {
    for (;;) {
      const record = await readRecord(this.#server);
      if (this.#isShaken || record === undefined) this.#tickets.resolve();
      if (record === undefined) return this.#withholdsEnd ? this.close() : await this.#client.closeWrite();
      this.#seen.version ??= versionOf(record);
      if (this.#withholdsEnd && record.type === tlsApplicationData && record.bytes.length === closeNotifyBytes) {
        continue;
      }
      await writeAll(this.#client, record.bytes);
    }
  }
}
