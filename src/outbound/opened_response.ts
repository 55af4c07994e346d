import type { OutboundResponse } from "./outbound_request.ts";
import type { BodyPieces } from "./response_body.ts";

/** A response whose head was read: its body is pulled piece by piece, never ahead of its reader. */
export class OpenedResponse implements OutboundResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly peer: { readonly address: string };
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #close: () => Promise<void>;

  constructor(options: {
    readonly status: number;
    readonly headers: Headers;
    readonly peer: { readonly address: string };
    readonly pieces: BodyPieces;
    /** Ends the exchange if it is not over; resolves when the socket is closed. */
    readonly close: () => Promise<void>;
  }) {
    this.status = options.status;
    this.headers = options.headers;
    this.peer = options.peer;
    this.#close = options.close;
    this.body = new ReadableStream({
      async pull(controller) {
        const piece = await options.pieces.next();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
      cancel: options.close,
    }, { highWaterMark: 0 });
  }

  /** The rest of the body. */
  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    let room = new Uint8Array(4096);
    let used = 0;
    for await (const piece of this.body) {
      if (used + piece.length > room.length) {
        const larger = new Uint8Array(Math.max(used + piece.length, 2 * room.length));
        larger.set(room.subarray(0, used));
        room = larger;
      }
      room.set(piece, used);
      used += piece.length;
    }
    return room.slice(0, used);
  }

  /** The same as text in UTF-8. */
  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }

  /** Ends the exchange if it is not over, and waits until the socket is closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}
