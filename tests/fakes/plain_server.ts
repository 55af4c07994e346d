/** A server of HTTP on loopback that says one thing: no TLS, no parser. */
export interface PlainServer extends AsyncDisposable {
  readonly port: number;
  /** The first packet of each request that came. */
  readonly requests: readonly string[];
  /** Resolves when the count of requests is reached. */
  came(count: number): Promise<void>;
}

/** Answers every connection with `answer` and closes it; with none it answers nothing, and holds on until it is disposed of. */
export function startPlainServer(answer?: string): PlainServer {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const requests: string[] = [];
  const connections: Promise<void>[] = [];
  const over = Promise.withResolvers<void>();
  const waiting = new Set<() => void>();

  async function serve(connection: Deno.TcpConn): Promise<void> {
    try {
      const buffer = new Uint8Array(64 * 1024);
      const count = await connection.read(buffer);
      if (count === null) return;
      requests.push(new TextDecoder().decode(buffer.subarray(0, count)));
      for (const look of waiting) look();
      if (answer === undefined) await over.promise;
      else await connection.write(new TextEncoder().encode(answer));
    } catch {
      // the other end hung up
    } finally {
      connection.close();
    }
  }

  const accepting = (async () => {
    for await (const connection of listener) connections.push(serve(connection));
  })();

  return {
    port: listener.addr.port,
    requests,
    came(count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const look = () => requests.length >= count && resolve();
      waiting.add(look);
      look();
      return promise;
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      over.resolve();
      await accepting;
      await Promise.all(connections);
    },
  };
}
