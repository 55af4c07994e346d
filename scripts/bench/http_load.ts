import { timed } from "./rounds.ts";

/** What is asked over and over. */
export interface HttpLoad {
  /** `http://127.0.0.1:40001` */
  readonly address: string;
  readonly count: number;
  /** Connections, each with one request in flight at a time, kept alive. */
  readonly lanes: number;
  readonly request: (number: number, lane: number) => LoadRequest;
  /** What every answer must contain: a server that refuses fast has measured nothing. */
  readonly expect: string;
}

/** A request without the headers that all have. */
export interface LoadRequest {
  readonly verb: "GET" | "POST";
  readonly path: string;
  readonly key: string;
  readonly body?: string;
}

/**
 * Asks a server `count` times and returns the answers per second.
 *
 * Written on TCP: a client of fetch takes more of the two cores than the servers that are measured.
 *
 * @throws {Error} If an answer is no 200 or lacks what is expected.
 */
export async function loadHttp({ address, count, lanes, request, expect }: HttpLoad): Promise<number> {
  const { hostname, port, host } = new URL(address);
  await using opened = new AsyncDisposableStack();
  const connections: HttpConnection[] = [];
  for (let lane = 0; lane < lanes; lane++) {
    connections.push(opened.use(new HttpConnection(await Deno.connect({ hostname, port: Number(port) }))));
  }
  let next = 0;
  const ms = await timed(() =>
    Promise.all(connections.map(async (connection, lane) => {
      while (next < count) {
        const number = next++;
        const answer = await connection.exchange(requestBytes(host, request(number, lane)));
        if (!answer.startsWith("HTTP/1.1 200 ") || !answer.includes(expect)) {
          throw new Error(`Expected 200 with ${expect}, got: ${answer.slice(0, 1000)}`);
        }
      }
    }))
  );
  return count / ms * 1000;
}

const encoder = new TextEncoder();

function requestBytes(host: string, { verb, path, key, body = "" }: LoadRequest): Uint8Array {
  const content = body === "" ? "" : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  const head = `${verb} ${path} HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${key}\r\nA2A-Version: 1.0\r\n${content}\r\n`;
  return encoder.encode(head + body); // all that is sent is ASCII, so characters are bytes
}

/** One kept connection. Answers are read whole, as Latin-1: what is looked for is ASCII. */
class HttpConnection implements Disposable {
  readonly #socket: Deno.TcpConn;
  readonly #decoder = new TextDecoder("latin1");
  readonly #buffer = new Uint8Array(256 * 1024);

  constructor(socket: Deno.TcpConn) {
    socket.setNoDelay(true);
    this.#socket = socket;
  }

  async exchange(request: Uint8Array): Promise<string> {
    for (let sent = 0; sent < request.length;) sent += await this.#socket.write(request.subarray(sent));
    let text = "";
    do {
      const read = await this.#socket.read(this.#buffer);
      if (read === null) throw new Error(`The server closed the connection after: ${text.slice(0, 1000)}`);
      text += this.#decoder.decode(this.#buffer.subarray(0, read));
    } while (!isWhole(text));
    return text;
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}

function isWhole(text: string): boolean {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd === -1) return false;
  const [, length] = /\r\ncontent-length: (\d+)\r\n/i.exec(text.slice(0, headEnd + 2)) ?? [];
  return length === undefined ? text.endsWith("\r\n0\r\n\r\n") : text.length >= headEnd + 4 + Number(length);
}
