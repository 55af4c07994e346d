import { deepStrictEqual, rejects, strictEqual, throws } from "node:assert/strict";
import { countListeners } from "@tests/fakes/count_listeners.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { type ExchangeCounts, ExchangeLimits, type ExchangeOwner } from "./exchange_limits.ts";
import { outboundLimits } from "./outbound.ts";

/** Limits at work: `enter` tells in `order` who got a place. */
function makeLimits(options: Partial<ExchangeCounts> = {}) {
  const clock = createTestClock();
  const limits = new ExchangeLimits({ ...outboundLimits, ...options }, clock);
  const order: string[] = [];
  const never = new AbortController().signal;
  async function enter(name: string, owner: ExchangeOwner = {}, signal = never): Promise<Disposable> {
    const place = await limits.enter(owner, { signal, waitMs: 10_000 });
    order.push(name);
    return place;
  }
  return { clock, limits, order, enter };
}

Deno.test("ExchangeLimits lets 4 go to a host, 16 of a caller, 3 of a caller to a host, 64 in all [§13 exchanges-max]", async () => {
  const rows = [
    { owners: 5, owner: (n: number) => ({ host: "a", caller: `c${n}` }), go: 4 },
    { owners: 4, owner: () => ({ host: "a", caller: "ann" }), go: 3 },
    { owners: 17, owner: (n: number) => ({ host: `h${n}`, caller: "ann" }), go: 16 },
    { owners: 65, owner: (n: number) => ({ host: `h${n}`, caller: `c${n}` }), go: 64 },
    { owners: 65, owner: () => ({}), go: 64 },
  ];
  for (const { owners, owner, go } of rows) {
    const { limits, order, enter, clock } = makeLimits();
    const entered = Array.from({ length: owners }, (_, n) => enter(`${n}`, owner(n)));
    entered.at(-1)!.catch(() => {});
    await clock.settle();
    deepStrictEqual([order.length, limits.size], [go, { underWay: go, waiting: 1 }]);
    (await entered[0]!)[Symbol.dispose]();
    await entered.at(-1);
    deepStrictEqual(limits.size, { underWay: go, waiting: 0 });
    strictEqual(clock.pending, 0);
  }
});

Deno.test("ExchangeLimits lets who waits go in the order they came [§13 exchanges-max]", async () => {
  const { order, enter } = makeLimits({ exchangesMax: 1 });
  const first = await enter("first");
  const rest = ["a", "b", "c"].map((name) => enter(name));
  first[Symbol.dispose]();
  for (const one of rest) (await one)[Symbol.dispose]();
  deepStrictEqual(order, ["first", "a", "b", "c"]);
});

Deno.test("ExchangeLimits lets nobody be held up by who waits for a full host or caller [§13 exchanges-max]", async () => {
  const { order, enter, clock } = makeLimits({ perHostMax: 1, perCallerMax: 2, exchangesMax: 3 });
  const slow = await enter("slow", { host: "a", caller: "ann" });
  const second = enter("second", { host: "a", caller: "bob" });
  await enter("other host", { host: "b", caller: "ann" });
  const third = enter("third of ann", { host: "c", caller: "ann" });
  const last = await enter("other caller", { host: "d", caller: "cat" });
  await clock.settle();
  deepStrictEqual(order, ["slow", "other host", "other caller"]);
  last[Symbol.dispose](); // room in all, but not for those who wait
  await clock.settle();
  deepStrictEqual(order.length, 3);
  slow[Symbol.dispose]();
  await Promise.all([second, third]);
  deepStrictEqual(order.slice(3), ["second", "third of ann"]);
});

Deno.test("ExchangeLimits lets nobody overtake who waits for the same", async () => {
  const { order, enter, clock } = makeLimits({ perHostMax: 1 });
  const first = await enter("first", { host: "a" });
  const waiting = enter("waiting", { host: "a" });
  first[Symbol.dispose]();
  const late = enter("late", { host: "a" });
  await clock.settle();
  deepStrictEqual(order, ["first", "waiting"]);
  (await waiting)[Symbol.dispose]();
  (await late)[Symbol.dispose]();
});

Deno.test("ExchangeLimits gives a place back once, however often it is disposed of", async () => {
  const { limits, enter } = makeLimits({ perHostMax: 2 });
  const [first] = [await enter("a", { host: "x" }), await enter("b", { host: "x" })];
  for (let time = 0; time < 3; time++) first[Symbol.dispose]();
  strictEqual(limits.size.underWay, 1);
  await enter("c", { host: "x" });
  const fourth = enter("d", { host: "x" });
  strictEqual(limits.size.waiting, 1);
  fourth.catch(() => {});
});

Deno.test("ExchangeLimits says busy after the wait, and leaves no timer [§13 wait-bounded]", async () => {
  const { limits, enter, clock } = makeLimits({ exchangesMax: 1 });
  const first = await enter("first");
  const late = rejects(enter("late"), { code: "BUSY", phase: "wait" });
  await clock.advance(9_999);
  strictEqual(limits.size.waiting, 1);
  await clock.advance(1);
  await late;
  strictEqual(clock.pending, 0);
  first[Symbol.dispose]();
  deepStrictEqual(limits.size, { underWay: 0, waiting: 0 });
});

Deno.test("ExchangeLimits lets 1,000 wait, and says busy to the next at once [§13 wait-bounded]", async () => {
  const { limits, enter } = makeLimits({ exchangesMax: 1 });
  const first = await enter("first");
  const waiting = Array.from({ length: 1_000 }, (_, n) => enter(`${n}`));
  await rejects(enter("one more"), { code: "BUSY", phase: "wait" });
  first[Symbol.dispose]();
  for (const one of waiting) (await one)[Symbol.dispose]();
  deepStrictEqual(limits.size, { underWay: 0, waiting: 0 });
});

Deno.test("ExchangeLimits lets 100 of a caller wait, and others besides [§13 wait-bounded]", async () => {
  const { limits, enter, clock } = makeLimits({ exchangesMax: 1 });
  const first = await enter("first");
  const stop = new AbortController();
  const ofAnn = { caller: "ann" };
  const waiting = Array.from({ length: 99 }, (_, n) => enter(`${n}`, ofAnn));
  const left = rejects(enter("leaves", ofAnn, stop.signal), stop.signal.reason);
  await rejects(enter("one more", ofAnn), { code: "BUSY", phase: "wait" });
  const others = [enter("other", { caller: "bob" }), enter("nobody's")];
  stop.abort();
  await left;
  waiting.push(enter("in its stead", ofAnn));
  await rejects(enter("one more", ofAnn), { code: "BUSY", phase: "wait" });
  first[Symbol.dispose]();
  for (const one of [...waiting.slice(0, 99), ...others, ...waiting.slice(99)]) (await one)[Symbol.dispose]();
  deepStrictEqual([limits.size, clock.pending], [{ underWay: 0, waiting: 0 }, 0]);
  for (let n = 0; n < 2; n++) (await enter("again", ofAnn))[Symbol.dispose]();
});

Deno.test("ExchangeLimits lets a caller fill no host for another, nor the line [§13 exchanges-max]", async () => {
  const { order, enter, clock } = makeLimits();
  for (let n = 0; n < 200; n++) enter("mallory", { host: "shared", caller: "mallory" }).catch(() => {});
  await clock.settle();
  deepStrictEqual(order, Array(3).fill("mallory"));
  await enter("ann", { host: "shared", caller: "ann" });
});

Deno.test("ExchangeLimits lets each wait as long as it says [§13 wait-bounded]", async () => {
  const { limits, enter, clock } = makeLimits({ exchangesMax: 1 });
  const first = await enter("first");
  const { signal } = new AbortController();
  const long = limits.enter({}, { signal, waitMs: 600_000 });
  const late = rejects(limits.enter({}, { signal, waitMs: 1_000 }), { code: "BUSY" });
  await clock.advance(1_000);
  await late;
  await clock.advance(500_000);
  first[Symbol.dispose]();
  (await long)[Symbol.dispose]();
});

Deno.test("ExchangeLimits lets who has room go at once, though the line is full", async () => {
  const { enter } = makeLimits({ perHostMax: 1, waitingMax: 1 });
  await enter("first", { host: "a" });
  enter("waits", { host: "a" }).catch(() => {});
  await enter("elsewhere", { host: "b" });
});

Deno.test("ExchangeLimits lets who is aborted leave the line, with the signal's reason and no place [§13 ends-whole]", async () => {
  const { limits, enter, clock } = makeLimits({ exchangesMax: 1 });
  const first = await enter("first");
  const stop = new AbortController();
  const reason = new Error("stop");
  const left = rejects(enter("left", {}, stop.signal), reason);
  stop.abort(reason);
  await left;
  await rejects(enter("too late", {}, stop.signal), reason);
  deepStrictEqual([limits.size, clock.pending], [{ underWay: 1, waiting: 0 }, 0]);
  const next = enter("next");
  first[Symbol.dispose]();
  await next;
  throws(() => stop.signal.throwIfAborted(), reason);
});

Deno.test("ExchangeLimits listens to a signal no longer than its exchange waits [§13 ends-whole]", async () => {
  const { limits, enter } = makeLimits({ exchangesMax: 1 });
  const first = await enter("first");
  const { signal } = new AbortController();
  const listeners = countListeners(signal);
  const second = enter("second", {}, signal);
  strictEqual(listeners(), 1);
  first[Symbol.dispose]();
  (await second)[Symbol.dispose]();
  strictEqual(listeners(), 0);
  deepStrictEqual(limits.size, { underWay: 0, waiting: 0 });
});

Deno.test("ExchangeLimits gives a place that came before the abort", async () => {
  const { limits, enter } = makeLimits({ exchangesMax: 1 });
  const first = await enter("first");
  const stop = new AbortController();
  const second = enter("second", {}, stop.signal);
  first[Symbol.dispose]();
  stop.abort(new Error("late"));
  (await second)[Symbol.dispose]();
  strictEqual(limits.size.underWay, 0);
});
