import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { takeLog } from "@tests/fakes/log_lines.ts";
import { type Lab, type LabNeeds, labTest, type Sending } from "@tests/fakes/outbound_lab.ts";
import { failsWith } from "@tests/outbound/failure.ts";
import type { OutboundCode, OutboundError } from "@/outbound/outbound_error.ts";

/** What it fails with, and that it does. */
async function codeOf(sending: Promise<unknown>): Promise<OutboundCode> {
  return await sending.then(() => Promise.reject(new Error("It did not fail")), (error: OutboundError) => error.code);
}

const open = (lab: Lab) => lab.connections.filter(({ isOpen }) => isOpen).length;

/** How 20 exchanges of one caller, to five hosts at once, never end. */
const rows: readonly {
  readonly what: string;
  readonly needs: LabNeeds;
  readonly sending: Sending;
  readonly ends: OutboundCode;
  readonly isStuck: (seen: { readonly received: number; readonly pieces: number }) => boolean;
}[] = [
  {
    what: "a server that says nothing in the handshake",
    needs: { servers: ["silent", "good"] },
    sending: {},
    ends: "TLS_TIMEOUT",
    isStuck: ({ received }) => received > 0,
  },
  {
    what: "a server that never reads a large request",
    needs: { servers: ["deaf", "good"] },
    sending: { method: "POST", body: new Uint8Array(24 * 1024 * 1024), headMs: 10_000 },
    ends: "HEAD_TIMEOUT",
    isStuck: ({ pieces }) => pieces > 0,
  },
];

for (const { what, needs, sending, ends, isStuck } of rows) {
  labTest(`guarded() leaves at most 8 sockets of a caller at ${what} [§13 left-bounded]`, needs, async (lab) => {
    using log = takeLog("warning");
    const door = lab.door();
    const send = (n: number, caller = "bot") => lab.send("/", { ...sending, host: `h${n}.hook.test`, door, caller });
    const codes = Array.from({ length: 20 }, (_, n) => codeOf(send(n % 5)));
    await lab.until((all) => all.filter(isStuck).length === 8);
    await lab.clock.advance(10_000);
    for (let at = 0; at < 5; at++) await lab.clock.advance(10_000); // whoever waits for a place
    const told = await Promise.all(codes);
    strictEqual(told.filter((code) => code === ends).length, 8);
    ok(told.every((code) => [ends, "BUSY", "QUARANTINED"].includes(code)), told.join());
    await lab.until((all) => all.filter(({ isOpen }) => isOpen).length <= 8);
    strictEqual(open(lab), 8);

    const [attempts, lines] = [lab.attempts.length, log.lines.length];
    const { publicMessage, isRetryable } = await failsWith(send(9), ["QUARANTINED", "wait"]);
    deepStrictEqual([publicMessage, isRetryable, lab.attempts.length], ["it was not sent", true, attempts]);
    deepStrictEqual([lines, log.lines.length], [1, 1]);
    ok(log.lines[0]!.includes("for the caller bot"), log.lines[0]);

    await using other = await lab.send("/204", { server: "good", host: "elsewhere.hook.test", door, caller: "ann" });
    strictEqual(other.status, 204);
    await lab.clock.advance(3_600_000);
    const before = lab.connections.filter(isStuck).length; // the good server has received something, too
    const again = codeOf(send(9));
    await lab.until((all) => all.filter(isStuck).length === before + 1);
    await lab.clock.advance(30_000);
    strictEqual(await again, ends);
    lab.release(); // what the runtime keeps ends when the server hangs up, and not before
  });
}

labTest(
  "guarded() leaves at most 4 sockets at a host, whoever sends there [§13 left-bounded]",
  { servers: ["silent", "good"] },
  async (lab) => {
    using log = takeLog("warning");
    const door = lab.door();
    const codes = Array.from({ length: 6 }, (_, n) => codeOf(lab.send("/", { door, caller: `c${n}` })));
    await lab.until((all) => all.filter(({ received }) => received > 0).length === 4);
    await lab.clock.advance(10_000);
    const told = await Promise.all(codes);
    strictEqual(told.filter((code) => code === "TLS_TIMEOUT").length, 4);
    await lab.until((all) => all.filter(({ isOpen }) => isOpen).length <= 4);
    strictEqual(open(lab), 4);
    await failsWith(lab.send("/", { door, caller: "new" }), ["QUARANTINED", "wait"]);
    deepStrictEqual([log.lines.length, log.lines[0]!.includes("to the host hook.test")], [1, true]);
    await using other = await lab.send("/204", { server: "good", host: "elsewhere.hook.test", door, caller: "c0" });
    strictEqual(other.status, 204);
    lab.release();
  },
);
