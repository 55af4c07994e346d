import { countListeners } from "./count_listeners.ts";
import { createTestClock, type TestClock } from "@tests/fakes/test_clock.ts";
import { parseIpAddress } from "@/ip_address.ts";
import type { ExchangeSocket } from "@/outbound/exchange_socket.ts";
import { Exchange, type ExchangeOptions } from "@/outbound/exchange.ts";
import type { Venture } from "@/outbound/left_sockets.ts";
import type { OutboundResponse } from "@/outbound/outbound_request.ts";

/** A connection whose other end is the test: what was written, and what is there to read. */
export interface FakeConnection {
  /** What was written, as Latin-1. */
  readonly written: string;
  readonly isClosed: boolean;
  /** Lets so many bytes of these letters be read. */
  give(text: string | Uint8Array): void;
  /** Ends the stream in order, or with an error. */
  end(error?: Error): void;
  /** Lets every write fail from now on. */
  failWrites(error: Error): void;
  /** Lets no write end from now on, until it is closed. */
  holdWrites(): void;
}

/** An exchange of which a test moves every step: its place, its connection, its bytes, its time. */
export interface FakeExchange {
  readonly exchange: Exchange;
  readonly response: Promise<OutboundResponse>;
  readonly connection: FakeConnection;
  readonly clock: TestClock;
  /** The caller's own signal, and how many listen to it. */
  readonly stop: AbortController;
  readonly listeners: () => number;
  /** Gives it its place among the exchanges. */
  enter(): void;
  /** Connects it. */
  connect(): void;
  /** How often the place was given back. */
  readonly left: () => number;
  /** Whose fault it was that a socket was left, each time that its venture was ended. */
  readonly ventured: readonly (VentureEnd)[];
}

type VentureEnd = Parameters<Venture["end"]>[0];

export type FakeExchangeOptions =
  & Partial<ExchangeOptions["request"]>
  & Partial<Pick<ExchangeOptions, "takesRedirects">>
  & {
    /** Absent: it has its place and its connection at once. */
    readonly isHeld?: boolean;
    /** It waits for its venture, and is then in the handshake of TLS, until it is connected. Absent: there is none. */
    readonly venture?: Promise<void>;
  };

export function startExchange(
  { isHeld = false, takesRedirects = false, venture, ...request }: FakeExchangeOptions = {},
): FakeExchange {
  const clock = createTestClock();
  const stop = new AbortController();
  const place = Promise.withResolvers<Disposable>();
  const connected = Promise.withResolvers<void>();
  const { connection, asConnection } = fakeConnection();
  const ventured: VentureEnd[] = [];
  let left = 0;
  const exchange = new Exchange({
    ...{ clock, takesRedirects },
    request: { bytesMax: 1000, totalMs: 60_000, signal: stop.signal, ...request },
    bytes: { method: "POST", pieces: [new TextEncoder().encode("request")] },
    enter: (signal) => unlessEnded(place.promise, signal),
    ...venture && {
      async venture(signal: AbortSignal) {
        await unlessEnded(venture, signal);
        return { end: (fault: VentureEnd) => void ventured.push(fault) };
      },
    },
    async dial({ socket, signal, onPhase, beforeTls }) {
      onPhase("dns");
      if (venture === undefined) await unlessEnded(connected.promise, signal);
      else await beforeTls();
      socket.use(asConnection);
      if (venture !== undefined) await shakeHands(socket, { signal, asConnection, done: connected.promise });
      return parseIpAddress("93.184.216.34")!;
    },
  });
  const enter = () => place.resolve({ [Symbol.dispose]: () => void left++ });
  if (!isHeld) enter();
  if (!isHeld) connected.resolve();
  const listeners = countListeners(stop.signal);
  const response = exchange.run();
  response.catch(() => {});
  return {
    exchange,
    response,
    connection,
    clock,
    stop,
    listeners,
    enter,
    connect: connected.resolve,
    left: () => left,
    ventured,
  };
}

/** The handshake of a connection is over when the test says so, or the exchange ends. */
async function shakeHands(
  socket: ExchangeSocket,
  options: { readonly signal: AbortSignal; readonly asConnection: Deno.Conn; readonly done: Promise<void> },
): Promise<void> {
  const { signal, asConnection, done } = options;
  const { startTls } = Deno;
  const secured = Object.assign(asConnection, { handshake: () => unlessEnded(done, signal) });
  Object.assign(Deno, { startTls: () => Promise.resolve(secured) });
  const starting = socket.startTls(asConnection as Deno.TcpConn, {});
  Object.assign(Deno, { startTls });
  await starting;
}

function unlessEnded<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  if (signal.aborted) reject(signal.reason);
  signal.addEventListener("abort", () => reject(signal.reason));
  return Promise.race([promise, work]);
}

function fakeConnection(): { readonly connection: FakeConnection; readonly asConnection: Deno.Conn } {
  let written = "";
  let isClosed = false;
  let readable: Uint8Array = new Uint8Array();
  let end: { readonly error?: Error } | undefined;
  let writeError: Error | undefined;
  let held: PromiseWithResolvers<never> | undefined;
  let waiting: PromiseWithResolvers<void> | undefined;
  const wake = () => waiting?.resolve();
  const asConnection = {
    async read(buffer: Uint8Array): Promise<number | null> {
      while (readable.length === 0) {
        if (isClosed) throw new Deno.errors.Interrupted("operation canceled");
        if (end?.error !== undefined) throw end.error;
        if (end !== undefined) return null;
        await (waiting = Promise.withResolvers()).promise;
      }
      const part = readable.subarray(0, buffer.length);
      buffer.set(part);
      readable = readable.subarray(part.length);
      return part.length;
    },
    write(bytes: Uint8Array): Promise<number> {
      if (writeError !== undefined) return Promise.reject(writeError);
      if (held !== undefined) return held.promise;
      written += new TextDecoder("latin1").decode(bytes);
      return Promise.resolve(bytes.length);
    },
    close() {
      isClosed = true;
      held?.reject(new Deno.errors.Interrupted("operation canceled"));
      readable = new Uint8Array();
      wake();
    },
  };
  const connection: FakeConnection = {
    get written() {
      return written;
    },
    get isClosed() {
      return isClosed;
    },
    give(text) {
      const more = typeof text === "string" ? Uint8Array.from(text, (letter) => letter.charCodeAt(0)) : text;
      readable = new Uint8Array([...readable, ...more]);
      wake();
    },
    end(error) {
      end = { error };
      wake();
    },
    failWrites: (error) => void (writeError = error),
    holdWrites() {
      held = Promise.withResolvers();
      held.promise.catch(() => {});
    },
  };
  return { connection, asConnection: asConnection as unknown as Deno.Conn };
}
