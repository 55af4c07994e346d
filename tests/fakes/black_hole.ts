import { web } from "./outbound_web.ts";

/** A port of `web.hole` that answers nobody: its queue has room for one connection, and that is taken. */
export async function openBlackHole(port: number): Promise<Disposable> {
  const [hostname, tcpBacklog] = [web.hole, 0];
  const listener = Deno.listen({ hostname, port, tcpBacklog });
  const filling = await Deno.connect({ hostname, port });
  return {
    [Symbol.dispose]() {
      filling.close();
      listener.close();
    },
  };
}
