/** An IPv4 or IPv6 address, by its bytes. */
export interface IpAddress {
  /** 4 or 16. */
  readonly bytes: readonly number[];
  /** Its one canonical spelling (RFC 5952), without brackets and zone: what sockets, certificates and logs are given. */
  readonly text: string;
}

/**
 * Parses the text of one address, strictly; undefined when it is none. The only parser of addresses in the program.
 *
 * IPv4 is four decimal numbers and no other form: leading zeros are octal to some, and `127.1` is an address to others.
 * IPv6 is as RFC 4291 has it, without brackets, zone or length. An IPv4 address that is mapped into IPv6 stays an IPv6 one.
 */
export function parseIpAddress(text: string): IpAddress | undefined {
  const bytes = text.includes(":") ? parseV6(text) : parseV4(text);
  return bytes === undefined ? undefined : ipAddress(bytes);
}

/** The address with these 4 or 16 bytes. */
export function ipAddress(bytes: readonly number[]): IpAddress {
  return { bytes, text: bytes.length === 4 ? bytes.join(".") : v6Text(bytes) };
}

/**
 * The bytes of the IPv4 address that is mapped into an IPv6 one (`::ffff:10.0.0.1`); any others are given back as they are.
 *
 * For who comes to us: a socket for both families shows IPv4 so. Never for where we go to: what is not the address that
 * was judged must not pass for it.
 */
export function unmapped(bytes: readonly number[]): readonly number[] {
  const isMapped = bytes.length === 16 && bytes.every((byte, at) => at >= 12 || byte === (at < 10 ? 0 : 0xff));
  return isMapped ? bytes.slice(12) : bytes;
}

function parseV4(text: string): readonly number[] | undefined {
  const fields = text.split(".", 5);
  const isAddress = fields.length === 4 && fields.every((field) => /^(?:0|[1-9]\d{0,2})$/.test(field));
  const bytes = fields.map(Number);
  return isAddress && bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

function parseV6(text: string): readonly number[] | undefined {
  if (text.length > 45) return undefined;
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [front, back] = halves.map((half, at) => parseFields(half, at === halves.length - 1));
  if (front === undefined) return undefined;
  if (halves.length === 1) return front.length === 16 ? front : undefined;
  if (back === undefined || front.length + back.length > 14) return undefined;
  return [...front, ...Array<number>(16 - front.length - back.length).fill(0), ...back];
}

/** The bytes of fields between colons; at the end the last may be an IPv4 address. */
function parseFields(text: string, isEnd: boolean): readonly number[] | undefined {
  if (text === "") return [];
  const bytes: number[] = [];
  const fields = text.split(":");
  for (const [at, field] of fields.entries()) {
    const v4 = isEnd && at === fields.length - 1 && field.includes(".") ? parseV4(field) : undefined;
    if (v4 === undefined && !/^[0-9a-f]{1,4}$/i.test(field)) return undefined;
    const number = parseInt(field, 16);
    bytes.push(...v4 ?? [number >> 8, number & 0xff]);
  }
  return bytes;
}

/** Lower case, no leading zeros, and `::` for the first of the longest runs of two zero fields or more. */
function v6Text(bytes: readonly number[]): string {
  const fields = Array.from({ length: 8 }, (_, at) => bytes[2 * at]! << 8 | bytes[2 * at + 1]!);
  const { from, length } = longestZeros(fields);
  const text = (part: readonly number[]) => part.map((field) => field.toString(16)).join(":");
  return length < 2 ? text(fields) : `${text(fields.slice(0, from))}::${text(fields.slice(from + length))}`;
}

function longestZeros(fields: readonly number[]): { readonly from: number; readonly length: number } {
  let longest = { from: 0, length: 0 };
  for (let from = 0; from < fields.length; from++) {
    let length = 0;
    while (fields[from + length] === 0) length++;
    if (length > longest.length) longest = { from, length };
  }
  return longest;
}
