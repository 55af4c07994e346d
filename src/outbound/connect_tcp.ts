/** Where to, and what ends the attempt. */
export interface TcpTarget {
  /** An address, in its canonical form: a name would be looked up by the C library. */
  readonly hostname: string;
  readonly port: number;
  readonly signal: AbortSignal;
}

/**
 * Connects to an address. Rejects when it is aborted, or gives the connection all the same when that was there first: it is
 * the caller's to close then too.
 *
 * Deno looks at the signal once more when the connection is made; if it was aborted in that moment, Deno rejects and leaves
 * the connection open, which nobody can close any more. So it gets a signal that ends an attempt, and says nothing later.
 */
export async function connectTcp(
  { hostname, port, signal }: TcpTarget,
  connect: (options: TcpTarget) => Promise<Deno.TcpConn> = Deno.connect,
): Promise<Deno.TcpConn> {
  signal.throwIfAborted();
  const stop = new AbortController();
  Object.defineProperty(stop.signal, "throwIfAborted", { value: () => {} });
  const onAbort = () => stop.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await connect({ hostname, port, signal: stop.signal });
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
