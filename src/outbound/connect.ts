/**
 * Connects to a literal address. Rejects when it is aborted before it is connected; who is aborted later gets the connection,
 * and has to close it.
 *
 * `Deno.connect` asks its signal once more when it is connected, and throws what it has opened away if it was aborted
 * meanwhile: nobody could close that socket. So it gets a signal of its own that never says so.
 */
export async function connectTo(
  address: { readonly hostname: string; readonly port: number },
  signal: AbortSignal,
): Promise<Deno.TcpConn> {
  signal.throwIfAborted();
  const stop = new AbortController();
  Object.defineProperty(stop.signal, "throwIfAborted", { value: () => {} });
  const onAbort = () => stop.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Deno.connect({ ...address, signal: stop.signal });
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
