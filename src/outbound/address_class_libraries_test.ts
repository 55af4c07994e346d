import { deepStrictEqual } from "node:assert/strict";
import { Address4, Address6 } from "ip-address";
import ipaddr from "ipaddr.js";
import { createSeededRandom } from "@tests/fakes/seeded_random.ts";
import { parseAddressRange } from "@/address_range.ts";
import { type IpAddress, ipAddress, parseIpAddress } from "@/ip_address.ts";
import { type AddressClass, classOf } from "./address_class.ts";

// Two tables of the same registries, made by others. When IANA gives out a block and they learn of it, this fails.

interface Library {
  readonly name: string;
  isPublic(address: IpAddress): boolean;
  /** What it allows and we refuse, on purpose: each with one address of it. */
  readonly allowsMore: readonly (readonly [addressClass: AddressClass, example: string])[];
}

const libraries: readonly Library[] = [
  {
    name: "ip-address",
    isPublic: ({ bytes, text }) => bytes.length === 4 ? new Address4(text).isGlobal() : new Address6(text).isGlobal(),
    allowsMore: [
      ["6to4-relay", "192.88.99.1"],
      ["as112-amt", "192.31.196.1"],
      ["as112-amt", "192.52.193.1"],
      ["as112-amt", "192.175.48.1"],
      ["as112-amt", "2620:4f:8000::1"],
      ["cloud-metadata", "168.63.129.16"],
      ["isatap", "2606:4700::5efe:7f00:1"],
      ["nat64", "64:ff9b::8.8.8.8"], // it answers for the address within
      ["protocol-assignment", "192.0.0.9"],
      ["protocol-assignment", "192.0.0.10"],
      ["protocol-assignment", "2001:30::1"],
      ["v4-mapped", "::ffff:8.8.8.8"],
    ],
  },
  {
    name: "ipaddr.js",
    isPublic: ({ bytes }) => ipaddr.fromByteArray([...bytes]).range() === "unicast",
    allowsMore: [
      ["cloud-metadata", "168.63.129.16"],
      ["isatap", "2606:4700::5efe:7f00:1"],
      ["not-global-unicast", "4000::1"], // whatever has no name
      ["v4-compatible", "::127.0.0.1"],
    ],
  },
];

const v4Blocks = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "100.100.100.200/32", "127.0.0.0/8", "168.63.129.16/32"],
  ...[
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.0.0/29",
    "192.0.0.8/32",
    "192.0.0.9/32",
    "192.0.0.10/32",
  ],
  ...["192.0.0.170/31", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16"],
  ...["192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "233.252.0.0/24"],
  ...["240.0.0.0/4", "255.255.255.255/32"],
];
const v6Blocks = [
  ...["::/128", "::1/128", "::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64"],
  ...["100:0:0:1::/64", "2000::/3", "2001::/23", "2001::/32", "2001:1::1/128", "2001:1::2/128", "2001:1::3/128"],
  ...["2001:2::/48", "2001:3::/32", "2001:4:112::/48", "2001:10::/28", "2001:20::/28", "2001:30::/28", "2001:db8::/32"],
  ...["2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"],
  ...["2606:4700::/32", "4000::/3", "fd00:ec2::/32"],
];

/** Both ends of each block and what is next to them, one of each at random, and the whole of IPv4 in steps. */
function* addresses(): Generator<IpAddress> {
  const random = createSeededRandom(20_260_101);
  const at = (number: bigint, length: number) =>
    ipAddress(Array.from({ length }, (_, index) => Number(number >> BigInt(8 * (length - 1 - index)) & 0xffn)));
  for (const block of [...v4Blocks, ...v6Blocks]) {
    const { bytes, bits } = parseAddressRange(block)!;
    const length = bytes.length;
    const first = bytes.reduce((number, byte) => number << 8n | BigInt(byte), 0n);
    const size = 1n << BigInt(8 * length - bits);
    const inside = Array.from({ length: 20 }, () => first + BigInt(`0x${random.hex(16)}`) % size);
    for (
      const number of [first - 1n, first, first + 1n, ...inside, first + size - 2n, first + size - 1n, first + size]
    ) {
      if (number >= 0n && number < 1n << BigInt(8 * length)) yield at(number, length);
    }
  }
  for (let high = 0; high < 65_536; high += 2) {
    const number = BigInt(high) << 16n;
    for (const low of [0n, BigInt(random.below(65_536)), 65_535n]) yield at(number | low, 4);
  }
  for (const example of libraries.flatMap(({ allowsMore }) => allowsMore)) yield parseIpAddress(example[1])!;
}

const all = [...addresses()].map((address) => ({ address, addressClass: classOf(address) }));

for (const { name, isPublic, allowsMore } of libraries) {
  Deno.test(`classOf() finds nothing public that ${name} does not [§13 address-classes]`, () => {
    const wrong = all.filter(({ address, addressClass }) => addressClass === "public" && !isPublic(address));
    deepStrictEqual(wrong.map(({ address }) => address.text), []);
  });

  Deno.test(`classOf() refuses what ${name} allows only where that is known [§13 address-classes]`, () => {
    const more = all.filter(({ address, addressClass }) => addressClass !== "public" && isPublic(address));
    const known = [...new Set(allowsMore.map(([addressClass]) => addressClass))].sort();
    deepStrictEqual([...new Set(more.map(({ addressClass }) => addressClass))].sort(), known);
    const unsaid = allowsMore.filter(([, example]) => !isPublic(parseIpAddress(example)!));
    deepStrictEqual(unsaid, []);
  });
}
