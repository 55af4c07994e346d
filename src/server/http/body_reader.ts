import { A2AError } from "@/protocol/errors.ts";
import type { Clock } from "@/time/clock.ts";

/** Bytes of bodies that are in memory at once, over all requests (threats.md "memory"). */
const inFlightBytesMax = 64 * 1024 * 1024;
/** Of them, those of one caller. */
const callerBytesMax = inFlightBytesMax / 2;
/** A body must be whole within this. */
const bodyMs = 60_000;

/**
 * Reads the bodies of requests within bounds: one body's size, all bodies' sizes together, those of one caller, and the time
 * they may take.
 *
 * A body that says it is too large is refused unread. One caller gets half of the room, so that it cannot shut out all
 * others; a single body may take more, where the owner allows such bodies.
 */
export class BodyReader {
  readonly #bytesMax: number;
  readonly #clock: Clock;
  readonly #ofCallers = new Map<string, number>();
  #inFlight = 0;

  constructor(options: { bytesMax: number; clock: Clock }) {
    this.#bytesMax = Math.min(options.bytesMax, inFlightBytesMax);
    this.#clock = options.clock;
  }

  /** Reads the body of a request of `caller` and hands it to `use`; its bytes count as in flight until `use` is done. */
  async withBody<T>(
    { request, caller }: { readonly request: Request; readonly caller: string },
    use: (bytes: Uint8Array) => Promise<T>,
  ): Promise<T | A2AError> {
    const declared = Number(request.headers.get("Content-Length") ?? 0);
    if (declared > this.#bytesMax) return tooLarge(this.#bytesMax);
    let counted = 0;
    const count = (bytes: number): boolean => {
      counted += bytes;
      const ofCaller = this.#add(caller, bytes);
      return this.#inFlight <= inFlightBytesMax && (ofCaller <= callerBytesMax || ofCaller === counted);
    };
    try {
      const bytes = await this.#read(request, count);
      return bytes instanceof A2AError ? bytes : await use(bytes);
    } finally {
      this.#add(caller, -counted);
    }
  }

  /** Counts bytes, and gives how many of their caller are in flight now. */
  #add(caller: string, bytes: number): number {
    this.#inFlight += bytes;
    const ofCaller = (this.#ofCallers.get(caller) ?? 0) + bytes;
    if (ofCaller === 0) this.#ofCallers.delete(caller);
    else this.#ofCallers.set(caller, ofCaller);
    return ofCaller;
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
        return hasRoom ? tooLarge(this.#bytesMax) : noRoom();
      }
      pieces.push(next.value);
    }
  }
}

function tooLarge(bytesMax: number): A2AError {
  return new A2AError("PAYLOAD_TOO_LARGE", { message: `The body is over the limit of ${bytesMax} bytes` });
}

function noRoom(): A2AError {
  const message = `Over the limit of ${inFlightBytesMax} bytes of bodies at once, ` +
    `or of ${callerBytesMax} of one caller, retry later`;
  return new A2AError("TOO_MANY_REQUESTS", { message, retryAfterSeconds: 5 });
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
