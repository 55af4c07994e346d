/** What a resolver asks. */
export interface DnsQuestion {
  readonly id: number;
  /** In lower case, without a final dot. */
  readonly name: string;
  /** `A`, `AAAA`, or the number of another type. */
  readonly type: string;
}

/** A record of an answer: an address, or the name that a name stands for. */
export type DnsRecord = { readonly address: string } | { readonly name: string; readonly target: string };

const types: Readonly<Record<number, string>> = { 1: "A", 5: "CNAME", 28: "AAAA" };
const codes = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3 } as const;
export type DnsCode = keyof typeof codes;

/** Reads the one question of a query. */
export function parseQuestion(query: Uint8Array): DnsQuestion {
  const view = new DataView(query.buffer, query.byteOffset, query.byteLength);
  const labels: string[] = [];
  let at = 12;
  for (let length = view.getUint8(at); length > 0; length = view.getUint8(at)) {
    labels.push(new TextDecoder().decode(query.subarray(at + 1, at + 1 + length)));
    at += length + 1;
  }
  const type = view.getUint16(at + 1);
  return { id: view.getUint16(0), name: labels.join(".").toLowerCase(), type: types[type] ?? String(type) };
}

/** The answer to a query: its code and its records, which are about the name that was asked for unless they name another. */
export function encodeAnswer(
  query: Uint8Array,
  { code = "NOERROR", records = [] }: { readonly code?: DnsCode; readonly records?: readonly DnsRecord[] },
): Uint8Array {
  const { name } = parseQuestion(query);
  let owner = name;
  const encoded = records.flatMap((record) => {
    const bytes = encodeRecord(owner, record);
    if ("target" in record) owner = record.target;
    return bytes;
  });
  const question = query.subarray(12, 12 + encodeName(name).length + 4);
  const flags = 0x8580 | codes[code]; // an answer, from who is in charge, with recursion
  const counts = [1, records.length, 0, 0];
  return new Uint8Array([...query.subarray(0, 2), ...[flags, ...counts].flatMap(u16), ...question, ...encoded]);
}

function encodeRecord(owner: string, record: DnsRecord): readonly number[] {
  const isAlias = "target" in record;
  const bytes = isAlias ? encodeName(record.target) : addressBytes(record.address);
  const type = isAlias ? 5 : bytes.length === 4 ? 1 : 28;
  const secondsToLive = [0, 0];
  return [...encodeName(owner), ...[type, 1, ...secondsToLive, bytes.length].flatMap(u16), ...bytes];
}

const u16 = (number: number) => [number >> 8, number & 0xff];

function encodeName(name: string): readonly number[] {
  return [...name.split(".").flatMap((label) => [label.length, ...new TextEncoder().encode(label)]), 0];
}

/** `10.0.0.1`, `fd00::1`, `::ffff:7f00:1`; a test gives nothing else. */
function addressBytes(address: string): readonly number[] {
  if (!address.includes(":")) return address.split(".").map(Number);
  const [front = "", back = ""] = address.split("::");
  const fields = (half: string) => half === "" ? [] : half.split(":").flatMap((field) => u16(parseInt(field, 16)));
  const [head, tail] = [fields(front), fields(back)];
  return [...head, ...Array<number>(16 - head.length - tail.length).fill(0), ...tail];
}
