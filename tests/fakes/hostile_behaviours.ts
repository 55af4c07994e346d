import { answerTo } from "./hostile_answers.ts";
import {
  type ConnectionLog,
  drain,
  type Exchange,
  latin1,
  type Reader,
  readRequest,
  type SeenConnection,
  writeAll,
} from "./hostile_connection.ts";
import { type CertificateName, type InnerTls, listenInnerTls, listenInnerTls12 } from "./hostile_inner.ts";
import { TlsRelay } from "./hostile_relay.ts";
import { tlsHandshake } from "./tls_record.ts";

/**
 * What a server is: one that speaks HTTP over TLS with some certificate, or one that does something else.
 *
 * `silent` reads and says nothing until it is let go. `deaf` reads no more than the first piece of a request until then.
 */
export type HostileServerName =
  | CertificateName
  | "tls_1_2"
  | "tls_1_1"
  | "http_2"
  | "http"
  | "silent"
  | "deaf"
  | "hangs_up"
  | "not_tls";

/** What a connection is served with. */
export interface Served {
  readonly seen: SeenConnection;
  readonly log: ConnectionLog;
  /** What answers may wait for. */
  readonly released: Promise<void>;
  readonly inner?: InnerTls;
}

/** Starts what terminates TLS for a server; undefined for one that does not speak it. */
export function listenInner(name: HostileServerName): InnerTls | Promise<InnerTls> | undefined {
  if (name in bare) return undefined;
  if (name === "tls_1_2") return listenInnerTls12();
  if (name === "http_2") return listenInnerTls("good", "h2");
  return listenInnerTls(name === "deaf" ? "good" : name as CertificateName, "http/1.1");
}

/** Serves one connection to its end, as the server of this name does. Rejects with whatever breaks it. */
export async function serveConnection(name: HostileServerName, client: Deno.TcpConn, served: Served): Promise<void> {
  const serveBare = bare[name];
  if (serveBare !== undefined) await serveBare(client, served);
  else await serveTls(client, { ...served, ...name === "deaf" && { isDeafUntil: served.released } });
}

const bare: Readonly<Partial<Record<HostileServerName, (client: Deno.TcpConn, served: Served) => Promise<void>>>> = {
  http: (client, served) => speak({ client, reader: countedReader(client, served), withholdEnd: () => {} }, served),
  silent: (client, served) => Promise.race([drain(countedReader(client, served)), served.released]),
  hangs_up: (client, served) => readFirst(client, served),
  not_tls: async (client, served) => {
    await readFirst(client, served);
    await writeAll(client, latin1("HTTP/1.1 400 Bad Request\r\n\r\nThis is plain HTTP"));
  },
  tls_1_1: async (client, served) => {
    await readFirst(client, served);
    await writeAll(client, helloOfTls11());
    await drain(client);
  },
};

/** The hello of a server that knows TLS 1.1 and nothing newer. */
function helloOfTls11(): Uint8Array {
  const version = [3, 2];
  const [random, session, cipher, compression] = [Array<number>(32).fill(7), [0], [0x00, 0x2f], [0]];
  const body = [...version, ...random, ...session, ...cipher, ...compression];
  const message = [2, 0, 0, body.length, ...body];
  return new Uint8Array([tlsHandshake, ...version, 0, message.length, ...message]);
}

/** Counts what is read, where no relay does. */
function countedReader(client: Deno.TcpConn, { seen, log }: Served): Reader {
  return {
    async read(into) {
      const count = await client.read(into);
      seen.received += count ?? 0;
      log.changed();
      return count;
    },
  };
}

async function readFirst(client: Deno.TcpConn, served: Served): Promise<void> {
  await countedReader(client, served).read(new Uint8Array(1024));
}

async function serveTls(
  client: Deno.TcpConn,
  served: Served & { readonly isDeafUntil?: Promise<void> },
): Promise<void> {
  const { server, speaker } = await served.inner!.connect();
  const relay = new TlsRelay({ client, server }, served);
  const speaking = speaker === undefined ? undefined : speakTls(speaker, { relay, served });
  const [, spoken] = await Promise.allSettled([relay.run(), speaking]);
  if (spoken.status === "rejected") throw spoken.reason;
}

async function speakTls(
  speaker: Deno.TlsConn,
  { relay, served }: { readonly relay: TlsRelay; readonly served: Served },
): Promise<void> {
  using client = speaker;
  const { alpnProtocol } = await client.handshake();
  served.seen.protocol = alpnProtocol ?? undefined;
  await speak({ client, reader: client, withholdEnd: () => relay.withholdEnd() }, served);
}

/** Who is spoken to, and how to leave without a word. */
interface Ends {
  readonly client: Deno.Conn & { closeWrite(): Promise<void> };
  readonly reader: Reader;
  readonly withholdEnd: () => void;
}

/** Reads one request, answers by its path, ends, and waits until the client has closed. */
async function speak({ client, reader, withholdEnd }: Ends, { seen, log, released }: Served): Promise<void> {
  const request = await readRequest(reader, (path) => path === "/early-413");
  if (request === undefined) return;
  seen.request = request;
  log.changed();
  const write = (data: string | Uint8Array) => writeAll(client, typeof data === "string" ? latin1(data) : data);
  const exchange: Exchange = {
    ...{ request, seen, released, withholdEnd, write },
    gone: () => drain(reader),
    async drip(pieces) {
      for (const piece of pieces) {
        await write(piece);
        seen.pieces++;
        log.changed();
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    },
  };
  const answer = answerTo(request.path);
  await (typeof answer === "function" ? answer(exchange) : write(answer));
  await client.closeWrite();
  await drain(reader);
}
