/** A TLS record as it is on the wire, of a connection's plain or encrypted part. */
export interface TlsRecord {
  readonly type: number;
  /** With its header. */
  readonly bytes: Uint8Array;
}

export const tlsHandshake = 22;
export const tlsApplicationData = 23;
export const tlsHeaderBytes = 5;

/** Reads the next record; undefined when the connection ends before its end. */
export async function readRecord(from: Deno.Conn): Promise<TlsRecord | undefined> {
  const header = new Uint8Array(tlsHeaderBytes);
  if (!await fill(header, from)) return undefined;
  const bytes = new Uint8Array(tlsHeaderBytes + header[3]! * 256 + header[4]!);
  bytes.set(header);
  return await fill(bytes.subarray(tlsHeaderBytes), from) ? { type: header[0]!, bytes } : undefined;
}

async function fill(into: Uint8Array, from: Deno.Conn): Promise<boolean> {
  for (let at = 0; at < into.length;) {
    const count = await from.read(into.subarray(at));
    if (count === null) return false;
    at += count;
  }
  return true;
}

/** The name that a client asks for in its first record; undefined when it names none. */
export function serverNameOf({ bytes }: TlsRecord): string | undefined {
  const names = extensionsOf(bytes, (reader) => {
    reader.skip(reader.number(1)); // session
    reader.skip(reader.number(2)); // ciphers
    reader.skip(reader.number(1)); // compressions
  }).get(0);
  return names === undefined ? undefined : new TextDecoder().decode(names.subarray(5));
}

/** The version that a server chose, as its first record says: `1.2`, `1.3`. */
export function versionOf({ bytes }: TlsRecord): string {
  const version = extensionsOf(bytes, (reader) => {
    reader.skip(reader.number(1)); // session
    reader.skip(3); // cipher, compression
  }).get(43) ?? bytes.subarray(9, 11);
  return `1.${version[1]! - 1}`;
}

/** The extensions of a hello by their numbers; `skip` passes what stands before them. */
function extensionsOf(bytes: Uint8Array, skip: (reader: ByteReader) => void): ReadonlyMap<number, Uint8Array> {
  const reader = new ByteReader(bytes);
  reader.skip(tlsHeaderBytes + 4 + 2 + 32); // header, kind and length of the message, version, random
  skip(reader);
  const found = new Map<number, Uint8Array>();
  for (const end = reader.number(2) + reader.at; reader.at < end;) {
    const type = reader.number(2);
    found.set(type, reader.take(reader.number(2)));
  }
  return found;
}

class ByteReader {
  readonly #bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  skip(bytes: number): void {
    this.at += bytes;
  }

  take(bytes: number): Uint8Array {
    this.at += bytes;
    return this.#bytes.subarray(this.at - bytes, this.at);
  }

  number(bytes: number): number {
    return this.take(bytes).reduce((sum, byte) => sum * 256 + byte, 0);
  }
}
