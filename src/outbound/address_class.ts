import { type AddressRange, isInRange, parseAddressRange } from "@/address_range.ts";
import { type IpAddress, ipAddress } from "@/ip_address.ts";

/** What an address is for, by the registries of IANA and a few hosts of clouds; `public`: for anybody's server. */
export type AddressClass =
  | "public"
  | PrivateClass
  | "unspecified"
  | "this-network"
  | "link-local"
  | "cloud-metadata"
  | "multicast"
  | "broadcast"
  | "reserved"
  | "benchmarking"
  | "documentation"
  | "protocol-assignment"
  | "as112-amt"
  | "6to4-relay"
  | "v4-mapped"
  | "v4-compatible"
  | "nat64"
  | "6to4"
  | "teredo"
  | "isatap"
  | "site-local"
  | "not-global-unicast";

/** The classes that `allowPrivate` opens. */
type PrivateClass = "loopback" | "private" | "unique-local" | "cgnat";

/** Which addresses may be connected to. */
export interface AddressPolicy {
  /** Opens loopback, RFC 1918, unique-local and CGNAT addresses, and nothing else: no metadata, no tunnel, no mapped form. */
  readonly allowPrivate: boolean;
  /** Exceptions that are opened, whatever their class. */
  readonly allow: readonly AddressRange[];
  /** Wins over all, over `public` too. */
  readonly deny: readonly AddressRange[];
  /** `judge-embedded`: an address of `64:ff9b::/96` counts as the IPv4 address in it; the local `64:ff9b:1::/48` never does. */
  readonly nat64: "refuse" | "judge-embedded";
}

/** What a policy says of an address. */
export interface Verdict {
  readonly isAllowed: boolean;
  readonly addressClass: AddressClass;
}

/**
 * Says whether an address may be connected to: `deny` first, then what is public, then `allow`, then the private classes.
 *
 * An address is judged as it is written. A mapped one (`::ffff:127.0.0.1`) is never taken for the IPv4 address in it,
 * neither to open it nor to find it in a range.
 */
export function judgeAddress(address: IpAddress, policy: AddressPolicy): Verdict {
  const { bytes } = address;
  const addressClass = classOf(address);
  const isIn = (ranges: readonly AddressRange[]) => ranges.some((range) => isInRange(bytes, range));
  if (isIn(policy.deny)) return { isAllowed: false, addressClass };
  if (addressClass === "public" || isIn(policy.allow)) return { isAllowed: true, addressClass };
  if (policy.nat64 === "judge-embedded" && isInRange(bytes, wellKnownNat64)) {
    return { isAllowed: judgeAddress(ipAddress(bytes.slice(12)), policy).isAllowed, addressClass };
  }
  return { isAllowed: policy.allowPrivate && privateClasses.has(addressClass), addressClass };
}

/**
 * Says what an address is for.
 *
 * IPv4 is public but for what a registry names. IPv6 is public only in `2000::/3`, and there but for what a registry
 * names: what is given out one day is refused until it stands here.
 */
export function classOf({ bytes }: IpAddress): AddressClass {
  if (bytes.length === 4) return firstOf(v4Classes, bytes) ?? "public";
  if (!isInRange(bytes, globalUnicast)) return firstOf(otherV6Classes, bytes) ?? "not-global-unicast";
  return firstOf(globalUnicastClasses, bytes) ?? (isIsatap(bytes) ? "isatap" : "public");
}

const privateClasses: ReadonlySet<AddressClass> = new Set(
  ["loopback", "private", "unique-local", "cgnat"] satisfies PrivateClass[],
);

type ClassRow = readonly [range: AddressRange, addressClass: AddressClass];

function rows(...written: readonly (readonly [range: string, addressClass: AddressClass])[]): readonly ClassRow[] {
  return written.map(([range, addressClass]) => [parseAddressRange(range)!, addressClass]);
}

function firstOf(classes: readonly ClassRow[], bytes: readonly number[]): AddressClass | undefined {
  return classes.find(([range]) => isInRange(bytes, range))?.[1];
}

/** An interface of ISATAP, `0[02]00:5efe` and an IPv4 address: a tunnel leads to that one. */
function isIsatap(bytes: readonly number[]): boolean {
  return (bytes[8]! & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
}

/** The special-purpose registry, multicast, class E, and metadata servers of clouds, one of which has a public-looking address. */
const v4Classes = rows(
  ["255.255.255.255/32", "broadcast"],
  ["0.0.0.0/32", "unspecified"],
  ["0.0.0.0/8", "this-network"],
  ["127.0.0.0/8", "loopback"],
  ["10.0.0.0/8", "private"],
  ["172.16.0.0/12", "private"],
  ["192.168.0.0/16", "private"],
  ["100.100.100.200/32", "cloud-metadata"],
  ["100.64.0.0/10", "cgnat"],
  ["169.254.0.0/16", "link-local"],
  ["168.63.129.16/32", "cloud-metadata"],
  ["192.0.0.0/24", "protocol-assignment"],
  ["192.0.2.0/24", "documentation"],
  ["198.51.100.0/24", "documentation"],
  ["203.0.113.0/24", "documentation"],
  ["233.252.0.0/24", "documentation"],
  ["198.18.0.0/15", "benchmarking"],
  ["192.88.99.0/24", "6to4-relay"],
  ["192.31.196.0/24", "as112-amt"],
  ["192.52.193.0/24", "as112-amt"],
  ["192.175.48.0/24", "as112-amt"],
  ["224.0.0.0/4", "multicast"],
  ["240.0.0.0/4", "reserved"],
);

const globalUnicast = parseAddressRange("2000::/3")!;

const globalUnicastClasses = rows(
  ["2001::/32", "teredo"],
  ["2001:2::/48", "benchmarking"],
  ["2001:db8::/32", "documentation"],
  ["3fff::/20", "documentation"],
  ["2001::/23", "protocol-assignment"],
  ["2002::/16", "6to4"],
  ["2620:4f:8000::/48", "as112-amt"],
);

const wellKnownNat64 = parseAddressRange("64:ff9b::/96")!;

/** Outside of global unicast all is refused but what a policy opens; a class says only why. */
const otherV6Classes = rows(
  ["::/128", "unspecified"],
  ["::1/128", "loopback"],
  ["::ffff:0:0/96", "v4-mapped"],
  ["::ffff:0:0:0/96", "v4-mapped"],
  ["::/96", "v4-compatible"],
  ["64:ff9b::/96", "nat64"],
  ["64:ff9b:1::/48", "nat64"],
  ["fd00:ec2::/32", "cloud-metadata"],
  ["fd00:c1::a9fe:a9fe/128", "cloud-metadata"],
  ["fd00:42::42/128", "cloud-metadata"],
  ["fd20:ce::254/128", "cloud-metadata"],
  ["fc00::/7", "unique-local"],
  ["fe80::/10", "link-local"],
  ["fec0::/10", "site-local"],
  ["ff00::/8", "multicast"],
);
