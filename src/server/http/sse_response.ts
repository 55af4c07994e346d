import type { Clock } from "@/time/clock.ts";
import { formatSseComment, formatSseEvent, sseHeaders } from "@/protocol/sse.ts";

/** A comment goes out when nothing else did for this long: proxies cut a silent stream after 30 to 60 s (case 7). */
const commentMs = 15_000;
/** A reader that takes nothing for this long is cut (product.md §5.5). */
const stuckMs = 120_000;

/** Where the events of a stream come from, and what is told when something goes wrong after the first. */
export interface SseSource<T> {
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
 * Pull-driven: events are taken as the reader takes them, so a slow one costs no memory. Only `cancel` shows that a client
 * left; it ends the events, never the work behind them. A reader that takes nothing for 2 minutes is cut.
 */
export function sseResponse<T>(source: SseSource<T>): Response {
  const encoder = new TextEncoder();
  const stream = new EventStream(source);
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const text = await stream.next(() => controller.error(new Error("The reader takes nothing")));
      if (text === undefined) controller.close();
      else controller.enqueue(encoder.encode(text));
    },
    cancel: () => stream.end(),
  }, { highWaterMark: 0 });
  return new Response(body, { headers: sseHeaders });
}

/** The text of a stream, piece by piece. */
class EventStream<T> {
  readonly #source: SseSource<T>;
  readonly #over = new AbortController();
  #next: Promise<IteratorResult<T>> | undefined;
  #stuck: Disposable | undefined;

  constructor(source: SseSource<T>) {
    this.#source = source;
  }

  /** The next piece: an event, or a comment when none came for 15 s. Undefined at the end. `cut`: the reader is gone. */
  async next(cut: () => void): Promise<string | undefined> {
    this.#stuck?.[Symbol.dispose]();
    if (this.#over.signal.aborted) return undefined;
    try {
      this.#next ??= this.#source.events.next();
      const event = await this.#withinSilence(this.#next);
      if (event === "silence") return this.#shown(formatSseComment(), cut);
      this.#next = undefined;
      if (event.done) return void await this.end();
      return this.#shown(formatSseEvent(this.#source.format(event.value)), cut);
    } catch (error) {
      await this.end();
      return formatSseEvent(this.#source.failure(error));
    }
  }

  async end(): Promise<void> {
    this.#over.abort();
    this.#stuck?.[Symbol.dispose]();
    await this.#source.events.return?.();
  }

  async #withinSilence(next: Promise<IteratorResult<T>>): Promise<IteratorResult<T> | "silence"> {
    const enough = new AbortController();
    const silence = this.#source.clock.sleep(commentMs, enough.signal).then(
      () => "silence" as const,
      () => "silence" as const,
    );
    try {
      return await Promise.race([next, silence]);
    } finally {
      enough.abort();
    }
  }

  /** What is handed out must be taken in time. */
  #shown(text: string, cut: () => void): string {
    const deadline = this.#source.clock.deadline(stuckMs);
    deadline.signal.addEventListener("abort", () => {
      cut();
      void this.end();
    });
    this.#stuck = deadline;
    return text;
  }
}
