import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { type AddressRange, isInRange, isInRanges, parseAddressRange } from "./address_range.ts";
import { parseIpAddress } from "./ip_address.ts";

const mapped = [...Array<number>(10).fill(0), 0xff, 0xff];

const ranges: readonly { text: string; range: AddressRange | undefined }[] = [
  { text: "127.0.0.1", range: { bytes: [127, 0, 0, 1], bits: 32 } },
  { text: "10.0.0.0/8", range: { bytes: [10, 0, 0, 0], bits: 8 } },
  { text: "0.0.0.0/0", range: { bytes: [0, 0, 0, 0], bits: 0 } },
  { text: "::1", range: { bytes: [...Array<number>(15).fill(0), 1], bits: 128 } },
  { text: "fd00::/8", range: { bytes: [0xfd, ...Array<number>(15).fill(0)], bits: 8 } },
  { text: "::ffff:0:0/96", range: { bytes: [...mapped, 0, 0, 0, 0], bits: 96 } },
  { text: "::ffff:10.0.0.0/104", range: { bytes: [...mapped, 10, 0, 0, 0], bits: 104 } },
  { text: "::ffff:a00:1", range: { bytes: [...mapped, 10, 0, 0, 1], bits: 128 } },
  { text: "::ffff:0:0/90", range: undefined },
  { text: "10.0.0.1/8", range: undefined },
  { text: "10.0.0.0/33", range: undefined },
  { text: "::/129", range: undefined },
  { text: "10.0.0.0/", range: undefined },
  { text: "10.0.0", range: undefined },
  { text: "10.0.0.256", range: undefined },
  { text: "010.0.0.1", range: undefined },
  { text: "0x7f.0.0.1", range: undefined },
  { text: "1::2::3", range: undefined },
  { text: "1:2:3:4:5:6:7", range: undefined },
  { text: "1:2:3:4:5:6:7:8:9", range: undefined },
  { text: "1:2:3:4:5:6:7::8", range: undefined },
  { text: "1.2.3.4::", range: undefined },
  { text: "::12345", range: undefined },
  { text: "localhost", range: undefined },
  { text: "[::1]", range: undefined },
  { text: "", range: undefined },
];

for (const { text, range } of ranges) {
  Deno.test(`parseAddressRange() reads ${JSON.stringify(text)} as ${range ? "a range" : "none"} [case 20]`, () => {
    deepStrictEqual(parseAddressRange(text), range);
  });
}

const addresses: readonly { address: string; range: string; isIn: boolean }[] = [
  { address: "10.1.2.3", range: "10.0.0.0/8", isIn: true },
  { address: "11.1.2.3", range: "10.0.0.0/8", isIn: false },
  { address: "::ffff:10.1.2.3", range: "10.0.0.0/8", isIn: true },
  { address: "::ffff:a01:203", range: "10.0.0.0/8", isIn: true },
  { address: "10.1.2.3", range: "::ffff:10.0.0.0/104", isIn: true },
  { address: "::ffff:a01:203", range: "::ffff:10.0.0.0/104", isIn: true },
  { address: "10.1.2.3", range: "::ffff:0:0/96", isIn: true },
  { address: "::ffff:a01:203", range: "::/0", isIn: false },
  { address: "172.31.0.1", range: "172.16.0.0/12", isIn: true },
  { address: "172.32.0.1", range: "172.16.0.0/12", isIn: false },
  { address: "8.8.8.8", range: "0.0.0.0/0", isIn: true },
  { address: "::1", range: "0.0.0.0/0", isIn: false },
  { address: "10.0.0.1", range: "::/0", isIn: false },
  { address: "0:0:0:0:0:0:0:1", range: "::1", isIn: true },
  { address: "fd12::1", range: "fd00::/8", isIn: true },
  { address: "fe80::1%eth0", range: "fe80::/10", isIn: true },
  { address: "", range: "0.0.0.0/0", isIn: false },
  { address: "localhost", range: "127.0.0.0/8", isIn: false },
];

for (const { address, range, isIn } of addresses) {
  Deno.test(`isInRanges() finds ${address || "no address"} ${isIn ? "in" : "not in"} ${range} [case 20]`, () => {
    strictEqual(isInRanges(address, [{ bytes: [1, 1, 1, 1], bits: 32 }, parseAddressRange(range)!]), isIn);
  });
}

Deno.test("isInRanges() finds nothing in no range", () => strictEqual(isInRanges("127.0.0.1", []), false));

Deno.test("isInRange() takes addresses and ranges as they are written: mapped is not IPv4", () => {
  const isIn = (address: string, range: string) => isInRange(parseIpAddress(address)!.bytes, parseAddressRange(range)!);
  strictEqual(isIn("10.1.2.3", "10.0.0.0/8"), true);
  strictEqual(isIn("::ffff:10.1.2.3", "10.0.0.0/8"), false);
  strictEqual(isIn("10.1.2.3", "::ffff:0:0/96"), false);
  strictEqual(isIn("::ffff:10.1.2.3", "::ffff:0:0/96"), true);
  strictEqual(isIn("::ffff:10.1.2.3", "::/0"), true);
});
