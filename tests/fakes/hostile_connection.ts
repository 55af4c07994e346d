/** What bytes are read from. */
export interface Reader {
  read(into: Uint8Array): Promise<number | null>;
}

/** What a client sent over a connection. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  /** The head as it came, line by line. */
  readonly head: readonly string[];
  readonly body: Uint8Array;
}

/** One connection that somebody made to a hostile server. */
export interface SeenConnection {
  /** The address and port that were connected to. */
  readonly address: string;
  readonly port: number;
  /** The port of the client. */
  readonly from: number;
  /** How many bytes the client sent, of the handshake too. */
  received: number;
  /** What TLS told: the name the client asked for, the version and protocol they agreed on. */
  serverName?: string;
  version?: string;
  protocol?: string;
  request?: SeenRequest;
  /** How many pieces were sent by an answer that comes piece by piece. */
  pieces: number;
  isOpen: boolean;
}

/** All connections to the servers of a test, in order. */
export class ConnectionLog {
  readonly #watchers: (() => void)[] = [];
  readonly all: SeenConnection[] = [];

  /** Begins the entry of a connection to this address, from that port. */
  add({ hostname: address, port }: { readonly hostname: string; readonly port: number }, from: number): SeenConnection {
    const seen = { address, port, from, received: 0, pieces: 0, isOpen: true };
    this.all.push(seen);
    this.changed();
    return seen;
  }

  /** Takes out one that the test itself made. */
  remove(seen: SeenConnection): void {
    this.all.splice(this.all.indexOf(seen), 1);
  }

  /** Tells who waits that something changed. */
  changed(): void {
    for (const look of this.#watchers.splice(0)) look();
  }

  /** Waits until something was seen. Nothing to wait for too long: then it rejects, with what was seen. */
  async until(isSeen: (all: readonly SeenConnection[]) => boolean): Promise<void> {
    const patienceMs = 30_000;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.changed();
    }, patienceMs);
    try {
      while (!isSeen(this.all)) {
        if (isLate) throw new Error(`Not seen in ${patienceMs} ms: ${isSeen}, but ${Deno.inspect(this.all)}`);
        await new Promise<void>((resolve) => this.#watchers.push(resolve));
      }
    } finally {
      clearTimeout(timer);
    }
  }
}

/** What an answer has at hand: a connection whose request was read. */
export interface Exchange {
  readonly request: SeenRequest;
  readonly seen: SeenConnection;
  /** Resolves when the test says so. */
  readonly released: Promise<void>;
  /** Text is sent as Latin-1. Rejects once the client has gone. */
  write(data: string | Uint8Array): Promise<void>;
  /** Sends one piece after the other until the client goes or nothing is left. */
  drip(pieces: Iterable<string>): Promise<void>;
  /** The connection will close without telling the client so in TLS. */
  withholdEnd(): void;
  /** Waits until the client has closed, for an answer that stays open. */
  gone(): Promise<void>;
}

/** What is sent before the server ends, as it is or by a function; text is Latin-1. */
export type Answer = string | Uint8Array | ((exchange: Exchange) => Promise<void>);

/** Answers by path: `/204`. */
export type Answers = Readonly<Record<string, Answer>>;

/** Bytes of a text whose characters are all Latin-1. */
export function latin1(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** Writes all of it: one `write` may take less. */
export async function writeAll(to: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
}

/** Reads and drops what comes until the other end closes. */
export async function drain(from: Reader): Promise<void> {
  const buffer = new Uint8Array(64 * 1024);
  while (await from.read(buffer) !== null);
}

/** Reads a request with its body; undefined when the client goes before its end. By `isEnough` its body is not waited for. */
export async function readRequest(
  from: Reader,
  isEnough: (path: string) => boolean,
): Promise<SeenRequest | undefined> {
  let bytes = new Uint8Array(0);
  const buffer = new Uint8Array(64 * 1024);
  for (;;) {
    const text = new TextDecoder("latin1").decode(bytes);
    const end = text.indexOf("\r\n\r\n");
    if (end >= 0) {
      const head = text.slice(0, end).split("\r\n");
      const [method = "", path = ""] = head[0]!.split(" ");
      const length = Number(/^content-length: *(\d+)$/im.exec(head.join("\n"))?.[1] ?? 0);
      const body = bytes.subarray(end + 4);
      if (body.length >= length || isEnough(path)) return { method, path, head, body };
    }
    const count = await from.read(buffer);
    if (count === null) return undefined;
    const more = new Uint8Array(bytes.length + count);
    more.set(bytes);
    more.set(buffer.subarray(0, count), bytes.length);
    bytes = more;
  }
}
