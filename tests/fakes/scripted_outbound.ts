import { Outbound } from "@/outbound/outbound.ts";
import { type OutboundCode, OutboundError, type OutboundPhase } from "@/outbound/outbound_error.ts";
import type { OutboundRequest, OutboundResponse } from "@/outbound/outbound_request.ts";
import type { Clock } from "@/time/clock.ts";

/** What a URL answers. */
export interface ScriptedAnswer {
  /** Absent: 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | readonly ScriptedPiece[];
  /** Waited for before the head. */
  readonly hold?: Promise<unknown>;
  /** Instead of a head. */
  readonly fail?: OutboundCode;
  /** Neither an abort nor the time ends it: what the real door never does. */
  readonly isDeaf?: boolean;
}

/** A piece of a body. A promise is waited for; `fail` breaks the body. */
export type ScriptedPiece = string | Uint8Array<ArrayBuffer> | Promise<unknown> | { readonly fail: OutboundCode };

/** One exchange as it was asked for. */
export interface ScriptedRequest extends OutboundRequest {
  readonly url: string;
  readonly caller: string;
}

/**
 * The door out, as a test scripts it. It keeps the promises of the real one: its limits, an end at once on abort, one
 * error class, one phase a code.
 */
export interface ScriptedOutbound extends Pick<Outbound, "guarded" | "problemWith"> {
  /** What a URL answers from now on: one answer after another, the last one always again. Others cannot be reached. */
  answer(url: string, ...answers: readonly ScriptedAnswer[]): void;
  /** All that was asked for. */
  readonly requests: readonly ScriptedRequest[];
  /** Exchanges that are not over: 0 when nothing was forgotten. */
  readonly open: number;
}

/** Makes a door where no URL answers yet. */
export function createScriptedOutbound(clock: Clock): ScriptedOutbound {
  const scripts = new Map<string, ScriptedAnswer[]>();
  const requests: ScriptedRequest[] = [];
  const open = new Set<Exchange>();
  const door = new Outbound({ clock }); // opens nothing until it is asked to send
  return {
    requests,
    problemWith: (url) => door.problemWith(url),
    get open() {
      return open.size;
    },
    answer: (url, ...answers) => void scripts.set(url, [...answers]),
    async guarded(url, request) {
      requests.push({ url, ...request });
      const script = scripts.get(url) ?? [{ fail: "CONNECT_FAILED" as const }];
      const answer = script.length > 1 ? script.shift()! : script[0]!;
      const exchange = new Exchange(clock, request, answer);
      open.add(exchange);
      return await exchange.response(() => void open.delete(exchange));
    },
  };
}

const phases: Partial<Record<OutboundCode, OutboundPhase>> = {
  ...{ URL_INVALID: "url", SCHEME_FORBIDDEN: "url", USERINFO_FORBIDDEN: "url", PORT_FORBIDDEN: "url" },
  ...{ BUSY: "wait", DNS_NOT_FOUND: "dns", DNS_FAILED: "dns", DNS_TIMEOUT: "dns", ADDRESS_FORBIDDEN: "policy" },
  ...{ CONNECT_FAILED: "connect", CONNECT_TIMEOUT: "connect", TLS_FAILED: "tls", TLS_TIMEOUT: "tls" },
  ...{ BODY_TIMEOUT: "body", BODY_TRUNCATED: "body", BODY_TOO_LARGE: "body", DEADLINE: "body", ABORTED: "body" },
};

class Exchange {
  readonly #clock: Clock;
  readonly #request: OutboundRequest;
  readonly #answer: ScriptedAnswer;
  readonly #over = new AbortController();
  readonly #owned = new DisposableStack();
  #bytes = 0;

  constructor(clock: Clock, request: OutboundRequest, answer: ScriptedAnswer) {
    this.#clock = clock;
    this.#request = request;
    this.#answer = answer;
    if (answer.isDeaf) return;
    const { signal, totalMs } = request;
    const onAbort = () => this.#over.abort(failure("ABORTED"));
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#owned.defer(() => signal?.removeEventListener("abort", onAbort));
    const deadline = this.#owned.use(clock.deadline(totalMs));
    deadline.signal.addEventListener("abort", () => this.#over.abort(failure("DEADLINE")));
  }

  async response(onOver: () => void): Promise<OutboundResponse> {
    this.#owned.defer(onOver);
    const { status = 200, headers = {}, hold, fail } = this.#answer;
    try {
      await this.#wait(Promise.resolve(hold), { ms: this.#request.headMs ?? 30_000, code: "HEAD_TIMEOUT" });
      if (fail !== undefined) throw failure(fail);
      const given = new Headers(headers);
      const isWhole = this.#request.reads !== "head";
      if (isWhole && Number(given.get("content-length")) > this.#request.bytesMax) throw failure("BODY_TOO_LARGE");
      if (!isWhole) this.#owned.dispose();
      const body = isWhole ? this.#body() : new ReadableStream({ start: (controller) => controller.close() });
      const dispose = () => Promise.resolve(this.#owned.dispose());
      const bytes = async () => new Uint8Array(await new Response(body).arrayBuffer());
      const text = async () => new TextDecoder().decode(await bytes());
      const peer = { address: "203.0.113.1" };
      return { status, headers: given, peer, body, bytes, text, [Symbol.asyncDispose]: dispose };
    } catch (error) {
      this.#owned.dispose();
      throw error;
    }
  }

  #body(): ReadableStream<Uint8Array<ArrayBuffer>> {
    const { body = [] } = this.#answer;
    const pieces = [...typeof body === "string" ? [body] : body];
    return new ReadableStream({
      pull: async (controller) => {
        try {
          const piece = await this.#next(pieces);
          if (piece !== undefined) return controller.enqueue(piece);
          controller.close();
        } catch (error) {
          this.#owned.dispose();
          throw error;
        }
        this.#owned.dispose();
      },
      cancel: () => this.#owned.dispose(),
    }, { highWaterMark: 0 });
  }

  /** The next piece that has bytes. */
  async #next(pieces: ScriptedPiece[]): Promise<Uint8Array<ArrayBuffer> | undefined> {
    while (true) {
      const piece = pieces.shift();
      await this.#wait(Promise.resolve(piece), { ms: this.#request.idleMs ?? 30_000, code: "BODY_TIMEOUT" });
      if (piece === undefined) return undefined;
      if (piece instanceof Promise) continue;
      if (typeof piece === "object" && "fail" in piece) throw failure(piece.fail);
      const bytes = typeof piece === "string" ? new TextEncoder().encode(piece) : piece;
      this.#bytes += bytes.length;
      if (this.#bytes > this.#request.bytesMax) throw failure("BODY_TOO_LARGE");
      return bytes;
    }
  }

  async #wait(work: Promise<unknown>, late: { readonly ms: number; readonly code: OutboundCode }): Promise<void> {
    if (this.#answer.isDeaf) return void await work;
    const { promise: over, reject } = Promise.withResolvers<never>();
    using deadline = this.#clock.deadline(late.ms);
    deadline.signal.addEventListener("abort", () => reject(failure(late.code)));
    const { signal } = this.#over;
    const onOver = () => reject(signal.reason);
    if (signal.aborted) onOver();
    signal.addEventListener("abort", onOver, { once: true });
    try {
      await Promise.race([work, over]);
    } finally {
      signal.removeEventListener("abort", onOver);
    }
  }
}

function failure(code: OutboundCode): OutboundError {
  return new OutboundError(code, phases[code] ?? "head", {
    message: `Made by the test: ${code} at https://secret/path`,
  });
}
