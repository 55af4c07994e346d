import process from "node:process";
import type { Outbound } from "@/outbound/outbound.ts";
import type { BenchSetting } from "./bench_setting.ts";
import { queuedPushes } from "./queued_pushes.ts";
import { openBenchOutbound, receiversAuthority, startReceiver } from "./receiver.ts";
import type { Limit, Report, Row } from "./report.ts";
import { inFlight, interleave, type Sample, type Samples, timed } from "./rounds.ts";

const lanes = 16;
/** Short and often: what slows the machine for a second then slows all ways of one round. */
const pushes = 400;
const roundsForOne = 3;
/** So many are over as soon as the others. */
const pooledShare = 8;

const headers = { "Content-Type": "application/json" };
/** A little more and fetch sends it apart from its head, and waits for the acknowledgement of that. */
const body = JSON.stringify({ task: "x".repeat(989) }); // 1,000 bytes

/** Pushes a second to a receiver over TLS: the guarded door, beside the ways of fetch, and the queue of pushes over it. */
export async function pushesBench({ folder, rounds, share }: BenchSetting): Promise<Report> {
  await using receiver = await startReceiver();
  const url = `${receiver.origins[0]}/hook`;
  const unbound = {
    ...{ exchangesMax: Infinity, perHostMax: Infinity, perCallerMax: Infinity, perCallerHostMax: Infinity },
    ...{
      leftMax: Infinity,
      leftPerHostMax: Infinity,
      leftPerCallerMax: Infinity,
      leftPerCallerHostMax: Infinity,
      tlsBegunMax: Infinity,
    },
  };
  await using outbound = await openBenchOutbound(unbound);
  const caCerts = [await receiversAuthority()];
  using kept = Deno.createHttpClient({ caCerts });
  using unkept = Deno.createHttpClient({ caCerts, poolMaxIdlePerHost: 0 });
  const count = pushes / share;
  const fetchAnew = async () => {
    using client = Deno.createHttpClient({ caCerts });
    await pushByFetch(url, client);
  };
  const samples = await interleave(rounds * roundsForOne, [
    () => pushed("anew", count, fetchAnew),
    async () => ({ ...await pushed("door", count, () => pushByDoor(url, outbound)), "ms held": await filesHeld() }),
    () => pushed("unkept", count, () => pushByFetch(url, unkept)),
    () => pushed("kept", count * pooledShare, () => pushByFetch(url, kept)),
    async () => {
      const queue = await queuedPushes(await folder.fresh(), { origins: receiver.origins, count });
      return { queue, "ms held by queue": await filesHeld() };
    },
  ]);
  const about =
    `Pushes a second, POSTs of 1 kB over TLS to an address of this machine, ${lanes} in flight. The receiver ` +
    "is a process of its own. Limits of the door were off, but not in the queue's rows: there four hosts of one caller make " +
    `${lanes} in flight, 200 connections a second may begin, and each push is the commit of a status, the read task, a signature, and the commit of what was ` +
    "taken, in a store on disk.";
  return { name: "pushes", about, rows: rowsOf(samples) };
}

function rowsOf(samples: Samples): Row[] {
  const anew = "fetch, a new client each";
  const row = (what: string, name: string, to?: readonly [name: string, what: string, limit?: Limit]): Row => ({
    ...{ what, value: samples.median(name), unit: name.startsWith("µs") ? "µs" : "/s" },
    ...(to !== undefined && { ratio: samples.ratio(name, to[0]), to: to[1], limit: to[2] }),
  });
  return [
    row(anew, "anew"),
    row("the door", "door", ["anew", anew, { atLeast: 0.8 }]),
    row("fetch, one client without a pool", "unkept"),
    row("the door", "door", ["unkept", "without a pool"]),
    row("fetch, kept connections", "kept"),
    row("the door", "door", ["kept", "kept connections"]),
    row("the queue of pushes, commits included", "queue", ["door", "the door"]),
    row(`processor for a push: ${anew}`, "µs anew"),
    row("processor for a push: the door", "µs door", ["µs anew", anew]),
    { what: "a look at a file right after: the door", value: samples.median("ms held"), unit: "ms" },
    { what: "a look at a file right after: the queue", value: samples.median("ms held by queue"), unit: "ms" },
  ];
}

/** Pushes a second, and what each took of this process's processor time. */
async function pushed(name: string, count: number, push: () => Promise<void>): Promise<Sample> {
  const before = process.cpuUsage();
  const ms = await timed(() => inFlight(count, lanes, push));
  const { user, system } = process.cpuUsage(before);
  return { [name]: count / ms * 1000, [`µs ${name}`]: (user + system) / count };
}

/** Milliseconds that a look at a file takes now (see `TlsPace`). When this resolves, files are free for who is measured next. */
async function filesHeld(): Promise<number> {
  const ms = await timed(() => Deno.stat("."));
  await new Promise((resolve) => setTimeout(resolve, 150));
  return ms;
}

/** As `push_exchange.ts` does: only the status is read. */
async function pushByDoor(url: string, outbound: Outbound): Promise<void> {
  const unread = { bytesMax: Infinity, encoding: "gunzip", totalMs: 30_000, headMs: 15_000 } as const;
  await using answer = await outbound.guarded(url, { method: "POST", caller: "bench", headers, body, ...unread });
  requireTaken(answer.status);
}

async function pushByFetch(url: string, client: Deno.HttpClient): Promise<void> {
  const answer = await fetch(url, { method: "POST", headers, body, client });
  await answer.body?.cancel();
  requireTaken(answer.status);
}

/** What is refused fast has measured nothing. */
function requireTaken(status: number): void {
  if (status !== 200) throw new Error(`Expected a push to be taken, got ${status}`);
}
