import { createServer, type Server } from "node:tls";
import type { AddressInfo } from "node:net";

const hostname = "127.0.0.1";

/** The certificates in `tests/outbound/certificates/`. */
export type CertificateName = "good" | "wrong_name" | "addresses" | "self_signed" | "expired" | "common_name";

/** Text of a file of `tests/outbound/certificates/`. */
export function readCertificate(file: string): string {
  return Deno.readTextFileSync(new URL(import.meta.resolve(`@tests/outbound/certificates/${file}`)));
}

/** What terminates TLS, behind a relay: a connection to it, and its own end of it when it is ours to speak through. */
export interface InnerTls extends AsyncDisposable {
  connect(): Promise<{ readonly server: Deno.TcpConn; readonly speaker?: Deno.TlsConn }>;
}

/** Deno's own server: TLS 1.3. */
export function listenInnerTls(name: CertificateName, protocol: "http/1.1" | "h2"): InnerTls {
  const [cert, key] = [readCertificate(`${name}.pem`), readCertificate(`${name}.key`)];
  const listener = Deno.listenTls({ hostname, port: 0, cert, key, alpnProtocols: [protocol] });
  const port = (listener.addr as Deno.NetAddr).port;
  let last: Promise<unknown> = Promise.resolve();
  // One after the other: so both ends of a connection are known to be of the same.
  async function connectNext(before: Promise<unknown>) {
    await before;
    const [server, speaker] = await Promise.all([Deno.connect({ hostname, port }), listener.accept()]);
    server.setNoDelay(true);
    return { server, speaker };
  }
  return {
    connect: () => {
      const next = connectNext(last);
      last = next.catch(() => {});
      return next;
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      await last;
    },
  };
}

/** A server of TLS 1.2 and nothing newer, which Deno's own cannot be. It says `old` to whatever it is asked. */
export async function listenInnerTls12(): Promise<InnerTls> {
  const [cert, key] = [readCertificate("good.pem"), readCertificate("good.key")];
  const server: Server = createServer({ cert, key, maxVersion: "TLSv1.2", ALPNProtocols: ["http/1.1"] }, (socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nold"));
  });
  await new Promise<void>((resolve) => server.listen(0, hostname, resolve));
  return {
    connect: async () => ({ server: await Deno.connect({ hostname, port: (server.address() as AddressInfo).port }) }),
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
