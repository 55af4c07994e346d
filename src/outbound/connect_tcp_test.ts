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
