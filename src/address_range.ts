import { parseIpAddress, unmapped } from "./ip_address.ts";

/**
 * Addresses of one family that begin with the same bits, as `10.0.0.0/8`, `127.0.0.1`, `::1` and `fd00::/8` write them.
 *
 * It stays as it is written: `::ffff:0:0/96` is a range of IPv6 and holds no IPv4 address.
 */
export interface AddressRange {
  /** 4 bytes or 16; those behind the first `bits` bits are 0. */
  readonly bytes: readonly number[];
  readonly bits: number;
}

/** Parses one address or one range; undefined when it is none, and when an address has bits behind its range's. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [, address, length] = /^([^/]+?)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bytes = address === undefined ? undefined : parseIpAddress(address)?.bytes;
  if (bytes === undefined) return undefined;
  const bits = length === undefined ? bytes.length * 8 : Number(length);
  const isRange = bits <= bytes.length * 8 && bytes.every((byte, at) => byte === (byte & maskOf(bits, at)));
  return isRange ? { bytes, bits } : undefined;
}

/** Says whether the address with these bytes is in a range, both taken as they are written. */
export function isInRange(bytes: readonly number[], range: AddressRange): boolean {
  return range.bytes.length === bytes.length &&
    range.bytes.every((byte, at) => byte === (bytes[at]! & maskOf(range.bits, at)));
}

/**
 * Says whether who came from `address` is in one of the ranges. What is no address, such as the empty text, is in none.
 *
 * An IPv4 address that is mapped into IPv6 (`::ffff:10.0.0.1`) is that IPv4 address, in a range too: sockets for both
 * families show them so.
 */
export function isInRanges(address: string, ranges: readonly AddressRange[]): boolean {
  const written = parseIpAddress(address.replace(/%.*$/, "")); // a zone says by which card, not who
  if (written === undefined) return false;
  const from = unmapped(written.bytes);
  return ranges.some((range) => isInRange(from, unmappedRange(range)));
}

/** Every range that begins as a mapped address does is at least 96 bits long, for those behind a range's bits are 0. */
function unmappedRange({ bytes, bits }: AddressRange): AddressRange {
  const mapped = unmapped(bytes);
  return { bytes: mapped, bits: bits - (bytes.length - mapped.length) * 8 };
}

function maskOf(bits: number, at: number): number {
  return 0xff & (0xff << (8 - Math.max(0, Math.min(8, bits - at * 8))));
}
