import type { IpAddress } from "@/ip_address.ts";
import type { Clock } from "@/time/clock.ts";
import type { DialedFor } from "./dial.ts";
import { ExchangeSocket } from "./exchange_socket.ts";
import { GunzipBody } from "./gunzip_body.ts";
import { OpenedResponse } from "./opened_response.ts";
import { type OutboundCode, OutboundError, type OutboundPhase } from "./outbound_error.ts";
import type { Venture } from "./left_sockets.ts";
import type { OutboundRequest, OutboundResponse } from "./outbound_request.ts";
import type { RequestBytes } from "./request_bytes.ts";
import { type BodyPieces, readBody } from "./response_body.ts";
import { framingOf, readHead, type ResponseHead } from "./response_head.ts";
import { ResponseWire } from "./response_wire.ts";

/** What one exchange is made of. */
export interface ExchangeOptions {
  readonly clock: Clock;
  readonly request: Pick<
    OutboundRequest,
    "signal" | "bytesMax" | "totalMs" | "headMs" | "idleMs" | "encoding" | "reads"
  >;
  readonly bytes: RequestBytes;
  /** Waits for a place among the exchanges under way; the signal ends the wait, with its reason. */
  readonly enter: (signal: AbortSignal) => Promise<Disposable>;
  /** Waits until a connection of TLS may begin; the signal ends the wait, with its reason. Absent: it may. */
  readonly venture?: (signal: AbortSignal) => Promise<Venture>;
  /** Connects, and gives the socket what it opened. */
  readonly dial: (forWhom: DialedFor) => Promise<IpAddress>;
  /** A redirect is an answer like any other. It is not followed either way. */
  readonly takesRedirects: boolean;
}

const headMsDefault = 30_000;
const idleMsDefault = 30_000;

/**
 * One exchange, from its wait for a turn to the closed socket: one request, one response. `run` it once.
 *
 * There is one way to end it early, whoever ends it and wherever it stands: `end` keeps the reason and closes the socket,
 * and whatever fails because of that is told as the reason.
 */
export class Exchange {
  readonly #options: ExchangeOptions;
  readonly #socket = new ExchangeSocket();
  readonly #stop = new AbortController();
  readonly #watched = new DisposableStack();
  readonly #closed = Promise.withResolvers<void>();
  #phase: OutboundPhase = "wait";
  #place: Disposable | undefined;
  #venture: Venture | undefined;
  #decoder: GunzipBody | undefined;
  #failure: OutboundError | undefined;
  #isClosing = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  /**
   * Resolves when all of it is over that can be ended: the socket is closed, the place is given up. It does so in every case.
   * What the runtime keeps of a connection of TLS that was not finished (`ExchangeSocket`) is told to its venture.
   */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /** Gives the response when its head is there; the body is still to come. Rejects with an `OutboundError`, then it is closed. */
  async run(): Promise<OutboundResponse> {
    try {
      this.#watch();
      await this.#enter();
      const peer = await this.#options.dial({
        socket: this.#socket,
        signal: this.#stop.signal,
        onPhase: (phase) => this.#phase = phase,
        beforeTls: () => this.#beginVenture(),
      });
      const wire = new ResponseWire(this.#socket);
      const head = await this.#exchangeHeads(wire);
      return await this.#respond(head, { wire, peer });
    } catch (error) {
      throw await this.#failed(error);
    }
  }

  /** Ends it, unless it is over. Resolves when it is closed. */
  end(
    code: OutboundCode,
    options: { readonly message: string; readonly cause?: unknown; readonly phase?: OutboundPhase },
  ): Promise<void> {
    if (!this.#isClosing) this.#fail(new OutboundError(code, options.phase ?? this.#phase, options));
    return this.#close();
  }

  #watch(): void {
    const { clock, request: { totalMs, signal } } = this.#options;
    const deadline = this.#watched.use(clock.deadline(totalMs));
    const onLate = () => void this.end("DEADLINE", { message: "the whole exchange took too long" });
    deadline.signal.addEventListener("abort", onLate, { once: true });
    if (signal === undefined) return;
    const onAbort = () => void this.end("ABORTED", { message: "it was ended by who began it", cause: signal.reason });
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    this.#watched.defer(() => signal.removeEventListener("abort", onAbort));
  }

  async #enter(): Promise<void> {
    const place = await this.#options.enter(this.#stop.signal);
    if (this.#isClosing) place[Symbol.dispose]();
    else this.#place = place;
  }

  async #beginVenture(): Promise<void> {
    const venture = await this.#options.venture?.(this.#stop.signal);
    if (this.#isClosing) venture?.end(undefined);
    else this.#venture = venture;
  }

  /** Writes and reads at once: a server may answer, and close, before it has read all of a body. */
  async #exchangeHeads(wire: ResponseWire): Promise<ResponseHead> {
    const { clock, request } = this.#options;
    this.#phase = "send";
    using deadline = clock.deadline(request.headMs ?? headMsDefault);
    deadline.signal.addEventListener(
      "abort",
      () => void this.end("HEAD_TIMEOUT", { message: "no answer came in time", phase: "head" }),
      { once: true },
    );
    let sendFailure: { readonly reason: unknown } | undefined;
    this.#send().catch((reason) => sendFailure = { reason });
    try {
      const head = await readHead(wire);
      this.#phase = "head";
      return head;
    } catch (error) {
      // Why it could not be sent says more than that the connection was closed then.
      const isSilent = !(error instanceof OutboundError) || error.code === "CONNECTION_CLOSED";
      if (sendFailure !== undefined && isSilent) throw sendFailure.reason;
      this.#phase = "head";
      throw error;
    }
  }

  async #send(): Promise<void> {
    for (const piece of this.#options.bytes.pieces) await this.#socket.write(piece);
    this.#venture?.end(undefined);
  }

  async #respond(
    head: ResponseHead,
    { wire, peer }: { readonly wire: ResponseWire; readonly peer: IpAddress },
  ): Promise<OutboundResponse> {
    const { bytes, request: { bytesMax, reads }, takesRedirects } = this.#options;
    const framing = reads === "head" ? { kind: "none" } as const : framingOf(head, bytes.method);
    const isRedirect = head.status >= 300 && head.status < 400 && head.status !== 304;
    if (isRedirect && !takesRedirects) throw redirectRefused(head.status);
    const headers = new Headers();
    for (const [name, value] of head.fields) headers.append(name, value);
    const isGzip = framing.kind !== "none" && this.#mustDecode(headers);
    let pieces = readBody(wire, { framing, bytesMax });
    if (isGzip) pieces = this.#decoder = new GunzipBody(pieces, bytesMax);
    this.#phase = "body";
    if (framing.kind === "none") await this.#close();
    return new OpenedResponse({
      ...{ status: head.status, headers, peer: { address: peer.text } },
      pieces: { next: () => this.#next(pieces) },
      close: () => this.end("ABORTED", { message: "the answer was disposed of" }),
    });
  }

  #mustDecode(headers: Headers): boolean {
    const encoding = headers.get("content-encoding")?.toLowerCase() ?? "";
    if (encoding === "" || encoding === "identity") return false;
    const isGzip = encoding === "gzip" || encoding === "x-gzip";
    if (isGzip && this.#options.request.encoding === "gunzip") return true;
    const details = { encoding: encoding.slice(0, 40) };
    throw new OutboundError("ENCODING_FORBIDDEN", "head", { message: "its encoding is not taken", details });
  }

  async #next(pieces: BodyPieces): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (this.#failure !== undefined) throw this.#failure;
    const { clock, request } = this.#options;
    using deadline = clock.deadline(request.idleMs ?? idleMsDefault);
    deadline.signal.addEventListener(
      "abort",
      () => void this.end("BODY_TIMEOUT", { message: "nothing more of the body came in time" }),
      { once: true },
    );
    try {
      const piece = await pieces.next();
      if (this.#failure !== undefined) throw this.#failure; // what was cut off must not look like an end
      if (piece === undefined) await this.#close();
      return piece;
    } catch (error) {
      throw await this.#failed(error);
    }
  }

  async #failed(error: unknown): Promise<OutboundError> {
    const failure = this.#failure ?? this.#fail(this.#told(error));
    await this.#close();
    return failure;
  }

  #fail(failure: OutboundError): OutboundError {
    this.#failure = failure;
    this.#stop.abort(failure);
    return failure;
  }

  /** What the runtime's own errors mean here. */
  #told(cause: unknown): OutboundError {
    if (cause instanceof OutboundError) return cause;
    const message = cause instanceof Deno.errors.UnexpectedEof
      ? "the connection was cut off: TLS was not ended in order"
      : "the connection failed";
    const codes: Partial<Record<OutboundPhase, OutboundCode>> = { send: "SEND_FAILED", body: "BODY_TRUNCATED" };
    const details = { reason: (cause as Error | undefined)?.message };
    return new OutboundError(codes[this.#phase] ?? "CONNECTION_CLOSED", this.#phase, { message, details, cause });
  }

  /** Who ends exchanges in the middle of their handshakes must not be able to close a host to others. */
  #whoLeft(): "host" | "caller" {
    const { code, phase } = this.#failure ?? {};
    return code !== undefined && ownEnds.has(code) && phase !== "body" ? "caller" : "host";
  }

  async #close(): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true;
      this.#watched.dispose();
      await this.#socket.close();
      this.#venture?.end(this.#socket.isLeft ? this.#whoLeft() : undefined);
      await this.#decoder?.[Symbol.asyncDispose]();
      this.#place?.[Symbol.dispose]();
      this.#closed.resolve();
    }
    return await this.closed;
  }
}

/** Ends that are not the other end's doing, as long as it has not answered. */
const ownEnds: ReadonlySet<OutboundCode> = new Set(["ABORTED", "CLOSED", "DEADLINE"]);

function redirectRefused(status: number): OutboundError {
  return new OutboundError("REDIRECT_FORBIDDEN", "head", {
    message: "a redirect is not followed",
    details: { status },
  });
}
