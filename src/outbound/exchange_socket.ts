/**
 * The socket of one exchange, from the first attempt to connect to the last read: who closes it closes whatever there is.
 *
 * It may be closed at any time, before it is there too: what is opened later is closed at once.
 */
export class ExchangeSocket {
  readonly #atWork = new Set<Promise<unknown>>();
  #connection: Deno.Conn | undefined;
  #isClosed = false;

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

  /** Reads what is there into `buffer`; null at the end of the stream. */
  async read(buffer: Uint8Array): Promise<number | null> {
    return await this.track(this.#open().read(buffer));
  }

  /** Writes all of `bytes`. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let from = 0; from < bytes.length;) {
      from += await this.track(this.#open().write(from === 0 ? bytes : bytes.subarray(from)));
    }
  }

  /** Closes it at once, whatever it does; resolves when nothing is at work with it any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#connection !== undefined) closeQuietly(this.#connection);
    while (this.#atWork.size > 0) await Promise.all(this.#atWork);
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
