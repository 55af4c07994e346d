import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { createSeededRandom } from "@tests/fakes/seeded_random.ts";
import { ipAddress, parseIpAddress, unmapped } from "./ip_address.ts";

const addresses: readonly (readonly [text: string, canonical: string])[] = [
  ["0.0.0.0", "0.0.0.0"],
  ["255.255.255.255", "255.255.255.255"],
  ["127.0.0.1", "127.0.0.1"],
  ["::", "::"],
  ["::1", "::1"],
  ["1::", "1::"],
  ["0:0:0:0:0:0:0:1", "::1"],
  ["2001:DB8::00AB", "2001:db8::ab"],
  ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
  ["2001:0:0:1:0:0:0:1", "2001:0:0:1::1"],
  ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
  ["1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"],
  ["::ffff:127.0.0.1", "::ffff:7f00:1"],
  ["64:ff9b::8.8.8.8", "64:ff9b::808:808"],
  ["1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"],
];

for (const [text, canonical] of addresses) {
  Deno.test(`parseIpAddress() reads ${text} as ${canonical}`, () => {
    strictEqual(parseIpAddress(text)?.text, canonical);
    deepStrictEqual(parseIpAddress(canonical)?.bytes, parseIpAddress(text)?.bytes);
  });
}

const none = [
  ...["", "127.1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.04", "0x7f.0.0.1", "2130706433", "1.2.3.-4"],
  ...["1.2.3.4 ", " 1.2.3.4", "1.2.3.4.", "1..3.4", "1.2.3.4/8", "\uff11.2.3.4", "localhost", "1e1.0.0.0"],
  ...[":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8", "::12345", ":1", "1:", "1:2:"],
  ...[
    "fe80::1%eth0",
    "fe80::1%25eth0",
    "[::1]",
    "::1/128",
    "::g",
    "1.2.3.4::",
    "::1.2.3",
    "::1.2.3.256",
    "::1.2.3.4:5",
  ],
  ...["::01.2.3.4", "::1 ", `${"0:".repeat(40)}1`, "::" + "0".repeat(50), "-1::"],
];

for (const text of none) {
  Deno.test(`parseIpAddress() reads ${JSON.stringify(text)} as none`, () =>
    strictEqual(parseIpAddress(text), undefined));
}

Deno.test("ipAddress() spells random addresses as URLs do, and they are read back", () => {
  const random = createSeededRandom(7);
  for (let round = 0; round < 2_000; round++) {
    const bytes = Array.from({ length: random.pick([4, 16]) }, () => random.chance(0.5) ? 0 : random.below(256));
    const { text } = ipAddress(bytes);
    const { hostname } = new URL(bytes.length === 4 ? `http://${text}/` : `http://[${text}]/`);
    strictEqual(hostname, bytes.length === 4 ? text : `[${text}]`);
    deepStrictEqual(parseIpAddress(text), { bytes, text });
  }
});

Deno.test("unmapped() takes only ::ffff:0:0/96 apart", () => {
  const text = (address: string) => ipAddress(unmapped(parseIpAddress(address)!.bytes)).text;
  strictEqual(text("::ffff:10.0.0.1"), "10.0.0.1");
  for (
    const other of ["10.0.0.1", "::1", "::a00:1", "::ffff:0:a00:1", "::1:ffff:a00:1", "64:ff9b::a00:1", "::fffe:a00:1"]
  ) {
    strictEqual(text(other), other);
  }
});
