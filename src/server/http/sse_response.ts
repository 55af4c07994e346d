import type { Clock } from "@/time/clock.ts";
import { notNeeded } from "@/time/not_needed.ts";
import { formatSseComment, formatSseEvent, sseHeaders } from "@/protocol/sse.ts";

/** A comment goes out when nothing else did for this long: proxies cut a silent stream after 30 to 60 s (case 7). */
const commentMs = 15_000;
/** A reader that takes nothing for this long is cut (product.md §5.5). */
const stuckMs = 120_000;

/** Where the events of a stream come from, and what is told when something goes wrong after the first. */
export interface SseSource<T> {
  /** A text that they return at their end goes out as a last comment. */
  readonly events: AsyncIterableIterator<T>;
  /** One event as the JSON of its `data` line. */
  readonly format: (event: T) => string;
  /** The `data` line that ends a stream which failed; the cause was logged. */
  readonly failure: (error: unknown) => string;
  readonly clock: Clock;
}

/**
 * Streams events as `text/event-stream`: one `data:` line each, in order, a comment every 15 s of silence.
 *
 * Waits for the first event: when it fails, this rejects, and there is no stream; later failures are a last event.
 * Pull-driven: events are taken as the reader takes them, so a slow one costs no memory. Only `cancel` shows that a client
 * left; it ends the events, never the work behind them. A reader that takes nothing for 2 minutes is cut.
 */
export async function sseResponse<T>(source: SseSource<T>): Promise<Response> {
  const encoder = new TextEncoder();
  const stream = new EventStream(source, await firstOf(source.events));
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => stream.begin(() => controller.error(new Error("The reader takes nothing"))),
    async pull(controller) {
      const text = await stream.next();
      if (stream.wasLeft) return;
      if (text === undefined) controller.close();
      else controller.enqueue(encoder.encode(text));
    },
    cancel: () => stream.leave(),
  }, { highWaterMark: 0 });
  return new Response(body, { headers: sseHeaders });
}

async function firstOf<T>(events: AsyncIterableIterator<T>): Promise<IteratorResult<T>> {
  try {
    return await events.next();
  } catch (error) {
    await events.return?.();
    throw error;
  }
}

/** The text of a stream, piece by piece. */
class EventStream<T> {
  readonly #source: SseSource<T>;
  readonly #over = new AbortController();
  #next: Promise<IteratorResult<T>> | undefined;
  #cut = () => {};
  #patience: Disposable | undefined;
  #wasLeft = false;

  constructor(source: SseSource<T>, first: IteratorResult<T>) {
    this.#source = source;
    this.#next = Promise.resolve(first);
  }

  /** Nobody is left to read: what comes is thrown away. */
  get wasLeft(): boolean {
    return this.#wasLeft;
  }

  /** `cut` is called when the reader takes nothing. */
  begin(cut: () => void): void {
    this.#cut = cut;
    this.#mustBeTaken();
  }

  /** The next piece: an event, or a comment when none came for 15 s. Undefined at the end. */
  async next(): Promise<string | undefined> {
    this.#patience?.[Symbol.dispose]();
    if (this.#over.signal.aborted) return undefined;
    try {
      this.#next ??= this.#source.events.next();
      const event = await this.#withinSilence(this.#next);
      if (this.#wasLeft) return undefined;
      if (event !== "silence") this.#next = undefined;
      if (event !== "silence" && event.done) return await this.#lastWords(event.value);
      const text = event === "silence" ? formatSseComment() : formatSseEvent(this.#source.format(event.value));
      this.#mustBeTaken();
      return text;
    } catch (error) {
      if (this.#wasLeft) return undefined;
      await this.#end();
      this.#mustBeTaken();
      return formatSseEvent(this.#source.failure(error));
    }
  }

  async #lastWords(said: unknown): Promise<string | undefined> {
    await this.#end();
    if (typeof said !== "string") return undefined;
    this.#mustBeTaken();
    return formatSseComment(said);
  }

  async leave(): Promise<void> {
    this.#wasLeft = true;
    await this.#end();
  }

  async #end(): Promise<void> {
    this.#over.abort();
    this.#patience?.[Symbol.dispose]();
    await this.#source.events.return?.();
  }

  async #withinSilence(next: Promise<IteratorResult<T>>): Promise<IteratorResult<T> | "silence"> {
    const enough = new AbortController();
    const over = AbortSignal.any([enough.signal, this.#over.signal]);
    const silence = this.#source.clock.sleep(commentMs, over).then(() => "silence" as const, () => "silence" as const);
    try {
      return await Promise.race([next, silence]);
    } finally {
      enough.abort(notNeeded);
    }
  }

  /** What is handed out must be taken in time. */
  #mustBeTaken(): void {
    const deadline = this.#source.clock.deadline(stuckMs);
    deadline.signal.addEventListener("abort", () => {
      this.#cut();
      void this.leave();
    });
    this.#patience = deadline;
  }
}
