import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { parseAddressRange } from "@/address_range.ts";
import { parseIpAddress } from "@/ip_address.ts";
import { type AddressClass, type AddressPolicy, classOf, judgeAddress } from "./address_class.ts";

const closed: AddressPolicy = { allowPrivate: false, allow: [], deny: [], nat64: "refuse" };

function isAllowed(address: string, policy: Partial<AddressPolicy> = {}): boolean {
  return judgeAddress(parseIpAddress(address)!, { ...closed, ...policy }).isAllowed;
}

const ranges = (...texts: readonly string[]) => texts.map((text) => parseAddressRange(text)!);

/** The first and the last address of each block, and what is around it. */
const blocks: readonly (readonly [addressClass: AddressClass, ...addresses: readonly string[]])[] = [
  ["public", "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0"],
  ["public", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0"],
  ["public", "192.0.3.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255"],
  ["public", "168.63.129.15", "168.63.129.17", "203.0.112.255", "203.0.114.0"],
  ["public", "2001:200::", "2001:db7:ffff::", "2001:db9::", "2003::", "2606:4700:4700::1111", "3ffe:ffff::", "2000::"],
  ["unspecified", "0.0.0.0", "::"],
  ["this-network", "0.0.0.1", "0.255.255.255"],
  ["loopback", "127.0.0.0", "127.255.255.255", "::1"],
  ["private", "10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255"],
  ["cgnat", "100.64.0.0", "100.100.100.199", "100.127.255.255"],
  [
    "cloud-metadata",
    "100.100.100.200",
    "168.63.129.16",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd00:c1::a9fe:a9fe",
    "fd00:42::42",
    "fd20:ce::254",
  ],
  ["link-local", "169.254.0.0", "169.254.169.254", "169.254.255.255", "fe80::", "febf:ffff::1"],
  ["protocol-assignment", "192.0.0.0", "192.0.0.192", "192.0.0.255", "2001:1::1", "2001:1ff:ffff::"],
  [
    "documentation",
    "192.0.2.0",
    "198.51.100.255",
    "203.0.113.5",
    "233.252.0.1",
    "2001:db8::1",
    "3fff::1",
    "3fff:fff::",
  ],
  ["benchmarking", "198.18.0.0", "198.19.255.255", "2001:2::1"],
  ["6to4-relay", "192.88.99.0", "192.88.99.255"],
  ["as112-amt", "192.31.196.1", "192.52.193.1", "192.175.48.1", "2620:4f:8000::1"],
  ["multicast", "224.0.0.0", "239.255.255.255", "ff00::", "ff02::1"],
  ["reserved", "240.0.0.0", "255.255.255.254"],
  ["broadcast", "255.255.255.255"],
  ["v4-mapped", "::ffff:0:0", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:7f00:1"],
  ["v4-compatible", "::2", "::127.0.0.1", "::8.8.8.8"],
  ["nat64", "64:ff9b::", "64:ff9b::8.8.8.8", "64:ff9b:1::", "64:ff9b:1:ffff::1"],
  ["teredo", "2001::1", "2001:0:7f00:1::1"],
  ["6to4", "2002:7f00:1::", "2002:808:808::1"],
  ["isatap", "2606:4700::5efe:7f00:1", "2606:4700::200:5efe:7f00:1"],
  ["unique-local", "fc00::1", "fdff:ffff::"],
  ["site-local", "fec0::1", "feff::1"],
  ["not-global-unicast", "::1:0:0:1", "100::1", "1fff:ffff::1", "4000::1", "5f00::1", "fe00::1", "64:ff9b:2::1"],
];

for (const [addressClass, ...addresses] of blocks) {
  for (const address of addresses) {
    Deno.test(`classOf() says ${addressClass} of ${address} [§13 address-classes]`, () => {
      strictEqual(classOf(parseIpAddress(address)!), addressClass);
      strictEqual(isAllowed(address), addressClass === "public");
    });
  }
}

Deno.test("judgeAddress() opens loopback, private, unique-local and CGNAT by allowPrivate, and no other class [§13 private-opens]", () => {
  const opened = blocks.filter(([, ...addresses]) => addresses.some((one) => isAllowed(one, { allowPrivate: true })));
  deepStrictEqual(
    new Set(opened.map(([addressClass]) => addressClass)),
    new Set(["public", "loopback", "private", "cgnat", "unique-local"]),
  );
});

Deno.test("judgeAddress() opens what allow names, of any class, as it is written [§13 allow-deny]", () => {
  strictEqual(isAllowed("10.0.0.1", { allow: ranges("10.0.0.1") }), true);
  strictEqual(isAllowed("10.0.0.2", { allow: ranges("10.0.0.1") }), false);
  strictEqual(isAllowed("169.254.169.254", { allow: ranges("169.254.0.0/16") }), true);
  strictEqual(isAllowed("::ffff:10.0.0.1", { allow: ranges("10.0.0.0/8") }), false);
  strictEqual(isAllowed("10.0.0.1", { allow: ranges("::ffff:0:0/96") }), false);
  strictEqual(isAllowed("::ffff:10.0.0.1", { allow: ranges("::ffff:0:0/96") }), true);
});

Deno.test("judgeAddress() closes what deny names, before all else [§13 allow-deny]", () => {
  const deny = ranges("93.184.216.0/24", "10.0.0.0/8", "2606::/16");
  strictEqual(isAllowed("93.184.216.34", { deny }), false);
  strictEqual(isAllowed("2606:4700::1", { deny }), false);
  strictEqual(isAllowed("10.0.0.1", { deny, allow: ranges("10.0.0.1"), allowPrivate: true }), false);
  strictEqual(isAllowed("93.184.215.34", { deny }), true);
  strictEqual(isAllowed("8.8.8.8", { deny: ranges("::ffff:0:0/96") }), true);
});

Deno.test("judgeAddress() takes an address of 64:ff9b::/96 for the one in it only when it is told to [§13 nat64]", () => {
  const nat64 = "judge-embedded" as const;
  strictEqual(isAllowed("64:ff9b::8.8.8.8"), false);
  strictEqual(isAllowed("64:ff9b::8.8.8.8", { nat64 }), true);
  strictEqual(isAllowed("64:ff9b::8.8.8.8", { nat64, deny: ranges("8.8.8.8") }), false);
  strictEqual(isAllowed("64:ff9b::8.8.8.8", { nat64, deny: ranges("64:ff9b::/96") }), false);
  for (const inside of ["127.0.0.1", "10.0.0.1", "169.254.169.254", "168.63.129.16", "0.0.0.0"]) {
    strictEqual(isAllowed(`64:ff9b::${inside}`, { nat64 }), false);
  }
  for (const other of ["64:ff9b:1::8.8.8.8", "64:ff9b::1:808:808", "::ffff:8.8.8.8", "::8.8.8.8", "2002:808:808::1"]) {
    strictEqual(isAllowed(other, { nat64 }), false);
  }
  strictEqual(isAllowed("64:ff9b::169.254.169.254", { nat64, allowPrivate: true }), false);
});
