import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { cutSource } from "@tests/fakes/cut_source.ts";
import { OutboundError } from "./outbound_error.ts";
import { ResponseWire } from "./response_wire.ts";

const rule = {
  bytesMax: 10,
  tooLong: () => new OutboundError("HEAD_TOO_LARGE", "head", { message: "too long" }),
  malformed: (message: string) => new OutboundError("MALFORMED_RESPONSE", "head", { message }),
};

const wireOf = (text: string, length?: number) => new ResponseWire(cutSource(text, length ? () => length : undefined));

for (const length of [1, 2, 3, undefined]) {
  Deno.test(`ResponseWire reads lines that come ${length ?? "all"} bytes at a time`, async () => {
    const wire = wireOf("one\r\n\r\n0123456789\r\nrest", length);
    deepStrictEqual([await wire.line(rule), await wire.line(rule), await wire.line(rule)], ["one", "", "0123456789"]);
    await rejects(wire.line(rule), { code: "CONNECTION_CLOSED" });
  });

  const bad: readonly (readonly [text: string, code: string])[] = [
    ["0123456789a\r\n", "HEAD_TOO_LARGE"],
    ["0123456789abcdef", "HEAD_TOO_LARGE"],
    ["a\nb\r\n", "MALFORMED_RESPONSE"],
    ["a\rb\r\n", "MALFORMED_RESPONSE"],
    ["a\r\r\n", "MALFORMED_RESPONSE"],
    ["a\0b\r\n", "MALFORMED_RESPONSE"],
    ["a\r", "CONNECTION_CLOSED"],
    ["a", "CONNECTION_CLOSED"],
  ];
  for (const [text, code] of bad) {
    Deno.test(`ResponseWire takes ${JSON.stringify(text)}, ${length ?? "all"} bytes at a time, for no line [§13 narrow-reader]`, async () => {
      await rejects(wireOf(text, length).line(rule), { code });
    });
  }
}

Deno.test("ResponseWire gives no line at the end of the stream, as often as it is asked", async () => {
  const wire = wireOf("");
  deepStrictEqual([await wire.line(rule), await wire.line(rule), await wire.fill()], [undefined, undefined, false]);
});

Deno.test("ResponseWire reads the letters of a line as Latin-1", async () => {
  strictEqual(await wireOf("caf\u00e9\r\n").line(rule), "caf\u00e9");
});

Deno.test("ResponseWire takes what is there and no more", async () => {
  const wire = wireOf("abcdef", 3);
  strictEqual(wire.take(9).length, 0);
  await wire.fill();
  deepStrictEqual([...wire.take(2)], [97, 98]);
  strictEqual(wire.buffered, 1);
  await wire.fill();
  deepStrictEqual([...wire.take(Infinity)], [99, 100, 101, 102]);
  strictEqual(await wire.fill(), false);
});

Deno.test("ResponseWire says whether a line can be decided on without waiting", async () => {
  const wire = wireOf("0123456789ab\nx", 12);
  await wire.fill();
  deepStrictEqual([wire.hasLine(10), wire.hasLine(9)], [false, true]);
  await wire.fill();
  strictEqual(wire.hasLine(10), true);
});

Deno.test("ResponseWire gives pieces that hold their own bytes only, so that single bytes cost no buffers", async () => {
  const wire = wireOf("ab", 1);
  await wire.fill();
  const first = wire.take(1);
  await wire.fill();
  deepStrictEqual([first[0], first.buffer.byteLength, wire.take(1).buffer.byteLength], [97, 1, 1]);
});
