/**
 * Addresses of one family that begin with the same bits, as `10.0.0.0/8`, `127.0.0.1`, `::1` and `fd00::/8` write them.
 *
 * An IPv4 address that is mapped into IPv6 (`::ffff:10.0.0.1`) is that IPv4 address: sockets for both families show them so.
 */
export interface AddressRange {
  /** 4 bytes or 16; those behind the first `bits` bits are 0. */
  readonly bytes: readonly number[];
  readonly bits: number;
}

/** Parses one address or one range; undefined when it is none, and when an address has bits behind its range's. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [, address, length] = /^([^/]+?)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const written = address === undefined ? undefined : parseBytes(address);
  if (written === undefined) return undefined;
  const bits = length === undefined ? written.length * 8 : Number(length);
  const mapped = unmapped(written);
  const range = { bytes: mapped, bits: bits - (written.length - mapped.length) * 8 };
  const isRange = range.bits >= 0 && range.bits <= mapped.length * 8;
  return isRange && mapped.every((byte, at) => byte === (byte & maskOf(range.bits, at))) ? range : undefined;
}

/** Says whether an address is in one of the ranges. What is no address, such as the empty text, is in none. */
export function isInRanges(address: string, ranges: readonly AddressRange[]): boolean {
  const written = parseBytes(address.replace(/%.*$/, "")); // a zone says by which card, not who
  if (written === undefined) return false;
  const bytes = unmapped(written);
  return ranges.some((range) =>
    range.bytes.length === bytes.length &&
    range.bytes.every((byte, at) => byte === (bytes[at]! & maskOf(range.bits, at)))
  );
}

function maskOf(bits: number, at: number): number {
  return 0xff & (0xff << (8 - Math.max(0, Math.min(8, bits - at * 8))));
}

function unmapped(bytes: readonly number[]): readonly number[] {
  const isMapped = bytes.length === 16 && bytes.every((byte, at) => at >= 12 || byte === (at < 10 ? 0 : 0xff));
  return isMapped ? bytes.slice(12) : bytes;
}

function parseBytes(text: string): readonly number[] | undefined {
  return text.includes(":") ? parseV6(text) : parseV4(text);
}

/** Four decimal numbers and no other form: leading zeros are octal to some. */
function parseV4(text: string): readonly number[] | undefined {
  const fields = text.split(".");
  const isAddress = fields.length === 4 && fields.every((field) => /^(?:0|[1-9]\d{0,2})$/.test(field));
  const bytes = fields.map(Number);
  return isAddress && bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

function parseV6(text: string): readonly number[] | undefined {
  const halves = text.split("::");
  if (text.length > 45 || halves.length > 2) return undefined;
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
