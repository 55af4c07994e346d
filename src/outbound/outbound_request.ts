/** What is sent to a remote, and how long and how much its answer may be. */
export interface OutboundRequest {
  /** Absent: GET. */
  readonly method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /**
   * What the exchange itself sets may not be among them: `Host`, `Content-Length`, `Connection`, `Accept-Encoding`, `Expect`,
   * `Upgrade`, `TE`, `Transfer-Encoding`, `Proxy-*`. Values are printable ASCII and Latin-1, without line breaks.
   */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** Ends the exchange in whatever phase it is, its body too. */
  readonly signal?: AbortSignal;
  /** The largest body of the answer, decoded. */
  readonly bytesMax: number;
  /** For the whole exchange from the call to the last byte of the body, the wait for a turn included. */
  readonly totalMs: number;
  /** For a turn: while too many exchanges are under way, in all, of its caller or to its host. Absent: 10 s. */
  readonly waitMs?: number;
  /** Until the head of the answer is there, once the connection is. Absent: 30 s. */
  readonly headMs?: number;
  /** Between two pieces of the body. Absent: 30 s. */
  readonly idleMs?: number;
  /** `gunzip`: an answer in gzip is decoded, under the same `bytesMax`. Absent: it is refused, as every other encoding is. */
  readonly encoding?: "gunzip";
  /**
   * `head`: the answer has no body here, whatever it says of one. How long it is and how it is packed is not judged, and the
   * exchange is over with its head. Absent: the body is read.
   */
  readonly reads?: "head";
}

/** The answer of a remote, from the end of its head on. Dispose it, or read the body to its end: else a socket stays open. */
export interface OutboundResponse extends AsyncDisposable {
  /** 200 to 599; 3xx only from the owner's agents. */
  readonly status: number;
  readonly headers: Headers;
  /** Who answered: an address in its canonical form. */
  readonly peer: { readonly address: string };
  /** Read as it is asked for; the socket closes at its end, on cancel, after an error and on dispose. Fails with `OutboundError`. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** The rest of the body. */
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  /** The same as text in UTF-8. */
  text(): Promise<string>;
}
