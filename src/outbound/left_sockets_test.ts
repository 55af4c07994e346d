import { deepStrictEqual, rejects, strictEqual, throws } from "node:assert/strict";
import { takeLog } from "@tests/fakes/log_lines.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import type { ExchangeOwner } from "./exchange_limits.ts";
import { type LeftSocketCounts, LeftSockets } from "./left_sockets.ts";
import { outboundLimits } from "./outbound.ts";

const hourMs = 3_600_000;
const quarantined = { code: "QUARANTINED", phase: "wait", isRetryable: true, isRefusal: false };
const patient = { signal: new AbortController().signal, waitMs: 10_000 };

function makeLeft(options: Partial<LeftSocketCounts> = {}) {
  const clock = createTestClock();
  const left = new LeftSockets({ ...outboundLimits, ...options }, clock);
  /** Leaves sockets, one after the other. */
  async function leave(times: number, owner: (time: number) => ExchangeOwner, fault: "host" | "caller" = "host") {
    for (let time = 0; time < times; time++) (await left.begin(owner(time), patient)).end(fault);
  }
  return { clock, left, leave };
}

/** The level of a line, and what it says. */
const said = (line: string) => line.replace(/^\S+ (\w+) +\S+ /, "$1 ");

Deno.test("LeftSockets lets a caller leave 8 in an hour, 3 of them at a host, a host 4, all 128, and says so once [§13 left-bounded]", async () => {
  const rows = [
    {
      max: 8,
      owner: (n: number) => ({ host: `h${n}`, caller: "ann" }),
      others: { host: "h0", caller: "bob" },
      whom: "for the caller ann",
    },
    {
      max: 3,
      owner: () => ({ host: "h", caller: "ann" }),
      others: { host: "h", caller: "bob" },
      whom: "for the caller ann to the host h",
    },
    {
      max: 4,
      owner: (n: number) => ({ host: "h", caller: `c${n}` }),
      others: { host: "i", caller: "c0" },
      whom: "to the host h",
    },
    { max: 128, owner: (n: number) => ({ host: `h${n}`, caller: `c${n}` }), whom: "to anybody" },
  ];
  for (const { max, owner, others, whom } of rows) {
    using log = takeLog("warning");
    const { left, leave, clock } = makeLeft();
    await leave(max, owner);
    throws(() => left.check(owner(max)), quarantined);
    await rejects(left.begin(owner(max), patient), quarantined);
    if (others !== undefined) left.check(others);
    await clock.advance(hourMs - 1);
    throws(() => left.check(owner(max)), quarantined);
    await clock.advance(1);
    left.check(owner(max));
    (await left.begin(owner(max), patient)).end(undefined);
    deepStrictEqual(log.lines.map(said), [
      `warning Sends nothing ${whom} for up to an hour: ${max} connections hang unfinished`,
    ]);
  }
});

Deno.test("LeftSockets counts nothing for what leaves none, however often, and once what ends twice [§13 left-bounded]", async () => {
  using log = takeLog("warning");
  const { left } = makeLeft({ leftPerHostMax: 2 });
  const owner = { host: "h", caller: "ann" };
  for (let time = 0; time < 20; time++) (await left.begin(owner, patient)).end(undefined);
  const venture = await left.begin(owner, patient);
  venture.end("host");
  venture.end("host");
  const finished = await left.begin(owner, patient);
  finished.end(undefined);
  finished.end("host");
  left.check(owner);
  deepStrictEqual(log.lines, []);
});

Deno.test("LeftSockets does not count against a host what its caller has ended [§13 left-bounded]", async () => {
  using _log = takeLog("warning");
  const { left, leave } = makeLeft();
  await leave(8, () => ({ host: "h", caller: "mallory" }), "caller");
  throws(() => left.check({ host: "i", caller: "mallory" }), quarantined);
  left.check({ host: "h", caller: "ann" });
});

Deno.test("LeftSockets never lets more be left than may be, though many are under way at once [§13 left-bounded]", async () => {
  using _log = takeLog("warning");
  const { left, clock } = makeLeft();
  const owner = (n: number) => ({ host: `h${n}`, caller: "ann" });
  const ventures = Array.from({ length: 20 }, (_, n) => left.begin(owner(n), patient));
  const begun: number[] = [];
  const failed: string[] = [];
  ventures.forEach((venture, n) => venture.then(() => begun.push(n), ({ code }) => failed.push(code)));
  await clock.settle();
  deepStrictEqual(begun, [0, 1, 2, 3, 4, 5, 6, 7]);
  (await ventures[0])!.end(undefined);
  await clock.settle();
  deepStrictEqual(begun.slice(8), [8]);
  for (let n = 1; n <= 8; n++) (await ventures[n])!.end("host");
  await clock.settle();
  deepStrictEqual([begun.length, failed], [9, Array(11).fill("QUARANTINED")]);
  strictEqual(clock.pending, 0);
});

Deno.test("LeftSockets lets nobody wait longer than they say, and heeds the signal of who waits [§13 wait-bounded]", async () => {
  const { left, clock } = makeLeft({ leftPerHostMax: 1 });
  const first = await left.begin({ host: "h" }, patient);
  const late = rejects(left.begin({ host: "h" }, patient), { code: "BUSY", phase: "wait" });
  const stop = new AbortController();
  const reason = new Error("not any more");
  const left2 = rejects(left.begin({ host: "h" }, { ...patient, signal: stop.signal }), reason);
  stop.abort(reason);
  await left2;
  await rejects(left.begin({ host: "i" }, { ...patient, signal: stop.signal }), reason);
  await clock.advance(9_999);
  strictEqual(clock.pending, 1);
  await clock.advance(1);
  await late;
  strictEqual(clock.pending, 0);
  first.end(undefined);
  (await left.begin({ host: "h" }, patient)).end(undefined);
});
