import { createServer, type Server, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { ConnectionLog } from "./hostile_connection.ts";
import { readCertificate } from "./hostile_inner.ts";

/** A socket of Node; Deno's own cannot be reset on purpose, and its types of Node's do not know that these can. */
type ResettableSocket = Socket & { resetAndDestroy(): void };

/** A server over TLS that sends the first bytes of an answer and, when it is let go, resets the connection. */
export class ResettingServer implements AsyncDisposable {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async listen(
    { hostname, log, released }: {
      readonly hostname: string;
      readonly log: ConnectionLog;
      readonly released: Promise<void>;
    },
  ): Promise<ResettingServer> {
    const [cert, key] = [readCertificate("good.pem"), readCertificate("good.key")];
    const server = createServer((socket) => {
      const seen = log.add({ hostname, port: socket.localPort! }, socket.remotePort!);
      const secured = new TLSSocket(socket, { isServer: true, cert, key, ALPNProtocols: ["http/1.1"] });
      secured.on("error", () => {}); // of what comes behind the reset
      secured.once("data", async () => {
        secured.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort");
        await released;
        (socket as ResettableSocket).resetAndDestroy();
      });
      socket.on("close", () => {
        seen.isOpen = false;
        log.changed();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, hostname, () => resolve()));
    return new ResettingServer(server);
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
