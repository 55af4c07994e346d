import { ok, rejects, strictEqual } from "node:assert/strict";
import { connectTo } from "./connect.ts";

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

Deno.test("connectTo() loses no connection, whenever it is aborted [§13 ends-whole]", async () => {
  await using server = startCounter();
  const outcomes = { connected: 0, aborted: 0 };
  const one = async (number: number) => {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(new Error("not any more")), number % 40 / 5);
    try {
      (await connectTo(server.address, stop.signal)).close();
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

Deno.test("connectTo() gives the connection that the abort came too late for [§13 ends-whole]", async () => {
  const stop = new AbortController();
  const { connect } = Deno;
  let closed = 0;
  const late = { close: () => void closed++ } as Deno.TcpConn;
  Object.assign(Deno, {
    connect({ signal }: { readonly signal: AbortSignal }) {
      stop.abort(new Error("not any more"));
      signal.throwIfAborted(); // as Deno's does when it is connected
      return Promise.resolve(late);
    },
  });
  try {
    strictEqual(await connectTo({ hostname: "127.0.0.1", port: 1 }, stop.signal), late);
  } finally {
    Object.assign(Deno, { connect });
  }
});

Deno.test("connectTo() rejects with the reason of a signal that is aborted, and listens to it no longer than it takes", async () => {
  const stop = new AbortController();
  const { addEventListener, removeEventListener } = stop.signal;
  let listeners = 0;
  stop.signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    listeners++;
    addEventListener.apply(stop.signal, args);
  };
  stop.signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    listeners--;
    removeEventListener.apply(stop.signal, args);
  };
  await rejects(connectTo({ hostname: "127.0.0.1", port: 1 }, stop.signal), Deno.errors.ConnectionRefused);
  strictEqual(listeners, 0);
  const reason = new Error("before");
  stop.abort(reason);
  await rejects(connectTo({ hostname: "127.0.0.1", port: 1 }, stop.signal), reason);
});
