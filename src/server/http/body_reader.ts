import { A2AError } from "@/protocol/errors.ts";
import type { Clock } from "@/time/clock.ts";

/** Bytes of bodies that are in memory at once, over all requests (threats.md "memory"). */
const inFlightBytesMax = 64 * 1024 * 1024;
/** A body must be whole within this. */
const bodyMs = 60_000;

/**
 * Reads the bodies of requests within bounds: one body's size, all bodies' sizes together, and the time they may take.
 *
 * A body that says it is too large is refused unread.
 */
export class BodyReader {
  readonly #bytesMax: number;
  readonly #clock: Clock;
  #inFlight = 0;

  constructor(options: { bytesMax: number; clock: Clock }) {
    this.#bytesMax = options.bytesMax;
    this.#clock = options.clock;
  }

  /** Reads a body and hands it to `use`; its bytes count as in flight until `use` is done. */
  async withBody<T>(request: Request, use: (bytes: Uint8Array) => Promise<T>): Promise<T | A2AError> {
    const declared = Number(request.headers.get("Content-Length") ?? 0);
    if (declared > this.#bytesMax) return tooLarge(this.#bytesMax);
    let counted = 0;
    const count = (bytes: number): boolean => {
      counted += bytes;
      this.#inFlight += bytes;
      return this.#inFlight <= inFlightBytesMax;
    };
    try {
      const bytes = await this.#read(request, count);
      return bytes instanceof A2AError ? bytes : await use(bytes);
    } finally {
      this.#inFlight -= counted;
    }
  }

  async #read(request: Request, count: (bytes: number) => boolean): Promise<Uint8Array | A2AError> {
    if (request.body === null) return new Uint8Array();
    const reader = request.body.getReader();
    using deadline = this.#clock.deadline(bodyMs);
    const late = new Promise<"late">((resolve) => deadline.signal.addEventListener("abort", () => resolve("late")));
    const pieces: Uint8Array[] = [];
    let size = 0;
    while (true) {
      const next = await Promise.race([reader.read(), late]).catch(() => "broken" as const);
      if (next === "late" || next === "broken") {
        void reader.cancel().catch(() => {});
        const message = next === "late" ? "The body took too long to arrive" : "The body could not be read";
        return new A2AError("INVALID_REQUEST", { message });
      }
      if (next.done) return joined(pieces, size);
      size += next.value.length;
      const hasRoom = count(next.value.length);
      if (size > this.#bytesMax || !hasRoom) {
        void reader.cancel().catch(() => {});
        return hasRoom ? tooLarge(this.#bytesMax) : new A2AError("TOO_MANY_REQUESTS", { retryAfterSeconds: 5 });
      }
      pieces.push(next.value);
    }
  }
}

function tooLarge(bytesMax: number): A2AError {
  return new A2AError("PAYLOAD_TOO_LARGE", { message: `The body is over the limit of ${bytesMax} bytes` });
}

function joined(pieces: readonly Uint8Array[], size: number): Uint8Array {
  if (pieces.length === 1) return pieces[0]!;
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
