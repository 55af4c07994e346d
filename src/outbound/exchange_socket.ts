/**
 * The socket of one exchange, from the first attempt to connect to the last read: who closes it closes whatever there is.
 *
 * It may be closed at any time, before it is there too: what is opened later is closed at once. One thing cannot be closed:
 * while a handshake of TLS is unfinished, or bytes are unwritten after it, the runtime keeps the connection until the other
 * end hangs up. `isLeft` says so.
 */
export class ExchangeSocket {
  readonly #atWork = new Set<Promise<unknown>>();
  #connection: Deno.Conn | undefined;
  #isClosed = false;
  #isSecure = false;
  /** Handshakes and writes under way. */
  #unfinished = 0;
  #isLeft = false;

  /** Once it is closed: says whether the runtime keeps the connection all the same. */
  get isLeft(): boolean {
    return this.#isLeft;
  }

  /** Makes `connection` the socket; what was it before has become this one, or is closed. */
  use(connection: Deno.Conn): void {
    this.#connection = connection;
    if (this.#isClosed) closeQuietly(connection);
  }

  /** Makes `close` wait for `work` too. */
  track<T>(work: Promise<T>): Promise<T> {
    const ended = work.then(() => {}, () => {});
    this.#atWork.add(ended);
    void ended.then(() => this.#atWork.delete(ended));
    return work;
  }

  /** Makes a connection one of TLS, which becomes the socket. Resolves when the handshake is done. */
  async startTls(connection: Deno.TcpConn, options: Deno.StartTlsOptions): Promise<void> {
    this.#isSecure = true;
    await this.track(this.#finish(async () => {
      const secured = await Deno.startTls(connection, options);
      this.use(secured);
      await secured.handshake();
    }));
  }

  /** Reads what is there into `buffer`; null at the end of the stream. */
  async read(buffer: Uint8Array): Promise<number | null> {
    return await this.track(this.#open().read(buffer));
  }

  /** Writes all of `bytes`. */
  async write(bytes: Uint8Array): Promise<void> {
    await this.#finish(async () => {
      for (let from = 0; from < bytes.length;) {
        from += await this.track(this.#open().write(from === 0 ? bytes : bytes.subarray(from)));
      }
    });
  }

  /** Closes it at once, whatever it does; resolves when nothing of ours is at work with it any more. */
  async close(): Promise<void> {
    if (!this.#isClosed) this.#isLeft = this.#isSecure && this.#unfinished > 0;
    this.#isClosed = true;
    if (this.#connection !== undefined) closeQuietly(this.#connection);
    while (this.#atWork.size > 0) await Promise.all(this.#atWork);
  }

  async #finish(work: () => Promise<void>): Promise<void> {
    this.#unfinished++;
    try {
      await work();
    } finally {
      this.#unfinished--;
    }
  }

  #open(): Deno.Conn {
    if (this.#connection === undefined || this.#isClosed) throw new Deno.errors.BadResource("The socket is closed");
    return this.#connection;
  }
}

/** Closes a connection that may have become another one, or be closed. */
export function closeQuietly(connection: { close(): void }): void {
  try {
    connection.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}
