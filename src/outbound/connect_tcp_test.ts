import { ok, rejects, strictEqual } from "node:assert/strict";
import { connectTcp, type TcpTarget } from "./connect_tcp.ts";

const hostname = "127.0.0.1";

Deno.test("connectTcp() connects, and rejects when nobody listens", async () => {
  const listener = Deno.listen({ hostname, port: 0 });
  const { port } = listener.addr;
  const { signal } = new AbortController();
  {
    using connection = await connectTcp({ hostname, port, signal });
    strictEqual(connection.remoteAddr.port, port);
  }
  listener.close();
  await rejects(connectTcp({ hostname, port, signal }), Deno.errors.ConnectionRefused);
});

Deno.test("connectTcp() ends an attempt that is aborted, before and while it is made", async () => {
  const stop = new AbortController();
  const pending = (options: TcpTarget) =>
    new Promise<Deno.TcpConn>((_, reject) =>
      options.signal.addEventListener("abort", () => reject(options.signal.reason))
    );
  const connecting = rejects(connectTcp({ hostname, port: 1, signal: stop.signal }, pending), { message: "Enough" });
  stop.abort(new Error("Enough"));
  await connecting;
  await rejects(connectTcp({ hostname, port: 1, signal: stop.signal }), { message: "Enough" });
});

Deno.test("connectTcp() gives a connection that was made in the moment it was aborted, so that it can be closed [§13 ends-whole]", async () => {
  using listener = Deno.listen({ hostname, port: 0 });
  const stop = new AbortController();
  /** As Deno's own does at its end. */
  async function connect({ signal, ...options }: TcpTarget): Promise<Deno.TcpConn> {
    try {
      return await Deno.connect(options);
    } finally {
      stop.abort();
      signal.throwIfAborted();
    }
  }
  using connection = await connectTcp({ hostname, port: listener.addr.port, signal: stop.signal }, connect);
  using accepted = await listener.accept();
  ok(stop.signal.aborted);
  strictEqual(accepted.remoteAddr.port, connection.localAddr.port);
});

/** Counts those that connect, and those of them that have hung up. */
function startCounter() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connections: Promise<void>[] = [];
  const open = new Map<number, Deno.TcpConn>();
  let wake = Promise.withResolvers<void>();
  function changed(): void {
    wake.resolve();
    wake = Promise.withResolvers();
  }
  async function count(connection: Deno.TcpConn): Promise<void> {
    const { port } = connection.remoteAddr;
    open.set(port, connection);
    changed();
    await connection.read(new Uint8Array(1)).catch(() => {});
    if (open.delete(port)) connection.close();
    changed();
  }
  const accepting = (async () => {
    for await (const connection of listener) connections.push(count(connection));
  })();
  const address = { hostname: "127.0.0.1", port: listener.addr.port };
  return {
    address,
    /** Waits until all that connected before have hung up. They are taken in order, so those who came before are seen. */
    async allLeft() {
      using last = await Deno.connect(address);
      const { port } = last.localAddr;
      const patience = Promise.withResolvers<never>();
      const timer = setTimeout(() => patience.reject(new Error(`${open.size - 1} did not hang up`)), 10_000);
      while (!(open.has(port) && open.size === 1)) {
        await Promise.race([wake.promise, patience.promise]).catch((error) => {
          clearTimeout(timer);
          throw error;
        });
      }
      clearTimeout(timer);
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      await accepting;
      for (const connection of open.values()) connection.close();
      open.clear();
      await Promise.all(connections);
    },
  };
}

Deno.test("connectTcp() loses no connection, whenever it is aborted [§13 ends-whole]", async () => {
  await using server = startCounter();
  const outcomes = { connected: 0, aborted: 0 };
  const one = async (number: number) => {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(new Error("not any more")), number % 40 / 5);
    try {
      (await connectTcp({ ...server.address, signal: stop.signal })).close();
      outcomes.connected++;
    } catch {
      outcomes.aborted++;
    }
    clearTimeout(timer);
  };
  for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 80 }, (_, number) => one(number)));
  await server.allLeft();
  ok(outcomes.connected > 0 && outcomes.aborted > 0, JSON.stringify(outcomes));
});
