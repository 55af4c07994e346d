import type { A2AError } from "@/protocol/errors.ts";
import type { CallerName } from "@/protocol/ids.ts";

/** Whose stream it is. */
export interface StreamOwner {
  /** The workspace's name. */
  readonly workspace: string;
  readonly caller: CallerName;
}

/** How a stream is ended from outside: with a last comment, or with an error as its last event. */
export type StreamEnd =
  | { readonly kind: "comment"; readonly text: string }
  | { readonly kind: "error"; readonly error: A2AError };

/**
 * The streams that are open, so that the host can end them: all when it stops, one caller's when its time is over.
 *
 * Ending a stream never ends the work behind it.
 */
export class OpenStreams {
  readonly #open = new Set<EndableStream<unknown>>();

  /** The same events, until they are over by themselves or are ended from here. */
  add<T>(owner: StreamOwner, events: AsyncIterableIterator<T>): AsyncIterableIterator<T> {
    const stream = new EndableStream(owner, events, () => this.#open.delete(stream as EndableStream<unknown>));
    this.#open.add(stream as EndableStream<unknown>);
    return stream;
  }

  /** Ends every stream that is open now, or those of one caller. */
  end(how: StreamEnd, owner?: StreamOwner): void {
    for (const stream of [...this.#open]) {
      const isTheirs = owner === undefined ||
        (stream.owner.workspace === owner.workspace && stream.owner.caller === owner.caller);
      if (isTheirs) stream.end(how);
    }
  }

  get count(): number {
    return this.#open.size;
  }
}

/** Events that can be ended while somebody waits for the next one. */
class EndableStream<T> implements AsyncIterableIterator<T> {
  readonly owner: StreamOwner;
  readonly #events: AsyncIterableIterator<T>;
  readonly #onOver: () => void;
  #end: StreamEnd | undefined;
  /** Settles what waits in `next`. */
  #wake = () => {};

  constructor(owner: StreamOwner, events: AsyncIterableIterator<T>, onOver: () => void) {
    this.owner = owner;
    this.#events = events;
    this.#onOver = onOver;
  }

  end(how: StreamEnd): void {
    this.#end ??= how;
    this.#onOver();
    this.#wake();
    void this.#events.return?.().catch(() => {}); // nobody reads on
  }

  /** No race of promises: it would keep every event of a stream until its end. */
  next(): Promise<IteratorResult<T>> {
    return new Promise((resolve, reject) => {
      const wake = () => {
        const end = this.#end!;
        if (end.kind === "error") reject(end.error);
        else resolve({ done: true, value: end.text });
      };
      if (this.#end !== undefined) return wake();
      this.#wake = wake;
      this.#events.next().then((next) => {
        if (next.done) this.#onOver();
        resolve(next);
      }, (error) => {
        this.#onOver();
        reject(error);
      });
    });
  }

  async return(): Promise<IteratorResult<T>> {
    this.#onOver();
    await this.#events.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
