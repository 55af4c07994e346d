import { getLogger } from "@logtape/logtape";
import type { Counters } from "@/counters.ts";
import { OutboundError } from "@/outbound/outbound_error.ts";
import { targetHost } from "@/outbound/target_url.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { Random } from "@/random.ts";
import { nextStatus, type SentPush } from "@/server/tasks/push_lifecycle.ts";
import { isOwed, type TaskRecord } from "@/server/tasks/task_record.ts";
import type { TaskStore } from "@/server/tasks/task_store.ts";
import type { TaskEvent } from "@/server/tasks/lifecycle.ts";
import type { TaskWriter } from "@/server/tasks/task_writer.ts";
import { notNeeded } from "@/time/not_needed.ts";
import { unlessAborted } from "@/time/unless_aborted.ts";
import { type PushExchangeOptions, type PushResult, sendPush } from "./push_exchange.ts";
import { pushesAtOnce, type PushJob, PushLines } from "./push_lines.ts";

const logger = getLogger(["a2a", "server", "push"]);

/** How long a claim holds; what waits longer for its turn is claimed again. */
const leaseMs = 60_000;
/** The longest that nobody looks, in case a wake was lost; and the shortest, since a look costs what all webhooks owe. */
const lookMsMax = 5 * 60_000;
const lookMsMin = 250;
/** Over how long what was owed before the start is spread. */
const spreadMs = 30_000;
/** How long pushes under way may go on when the host ends. */
const graceMs = 2_000;
/** How long a push waits that the door had no room for, or the disk did not let through: that is no receiver's fault. */
const putBackMs = 5_000;

/** Whether a caller's webhooks are still told: its time may be over, its entry gone, or nobody knows. */
export type Standing = "active" | "expired" | "removed" | "unknown";

/** What one try came to, for who keeps a record of it. */
export interface PushReport {
  readonly record: TaskRecord;
  readonly result: PushResult;
  readonly ms: number;
}

/** What the queue works with. */
export interface PushQueueOptions extends PushExchangeOptions {
  readonly store: TaskStore;
  readonly writer: TaskWriter;
  readonly random: Random;
  readonly counters: Counters;
  readonly standingOf: (caller: CallerName) => Standing;
  /** Pushes a minute of one caller to one host; `Infinity` for no limit. */
  readonly perMinuteMax: number;
  /** Told after each try. Must not throw. */
  readonly onSent?: (report: PushReport) => void;
}

/**
 * Tells webhooks what they are owed: one request at a time a webhook, its oldest status first, until it took all or is over
 * (state-machines.md 6). There is no list of its own: what is owed is in the tasks' records, and survives with them.
 */
export class PushQueue implements AsyncDisposable {
  readonly #options: PushQueueOptions;
  readonly #lines: PushLines;
  /** By name: waiting, for their turn or the spread after a start, or under way. They read what they are owed when they go. */
  readonly #jobs = new Set<string>();
  readonly #working = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  /** Ends what is under way. */
  readonly #abort = new AbortController();
  /** When the next look comes, on the clock that only grows. */
  #looksAt = Infinity;
  #lookEarlier = new AbortController();
  /** The wait for the rate of a line: when it ends, on the clock that only grows. */
  #rateWait: RateWait | undefined;

  constructor(options: PushQueueOptions) {
    this.#options = options;
    const { clock, perMinuteMax } = options;
    this.#lines = new PushLines({ ...pushesAtOnce, perMinuteMax, clock });
    this.#own("looking for pushes", this.#run());
  }

  /** A record was committed: looks whether its webhooks are to be told something. Returns at once, never throws. */
  wake(record: TaskRecord): void {
    if (this.#stop.signal.aborted) return;
    const owed = record.pushes.filter((push) => isOwed(push, record));
    if (owed.length === 0) return;
    const { clock } = this.#options;
    const waitMs = Math.min(...owed.map(({ nextAt }) => nextAt!)) - clock.now();
    if (waitMs <= 0) this.#own("claiming pushes", this.#claim({ taskId: record.task.id }));
    else if (clock.elapsed() + waitMs < this.#looksAt) this.#lookEarlier.abort(notNeeded);
  }

  /** Stops the webhooks of a caller that was removed, also those of tasks that are over. */
  async expel(caller: CallerName): Promise<void> {
    for (const id of await this.#options.store.withWebhooks(caller)) {
      await this.#apply({ id, caller }, { kind: "webhooks stopped" });
    }
  }

  /** Sends nothing new, and ends what is under way after 2 s: it is sent again after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    const over = new AbortController();
    const late = this.#options.clock.sleep(graceMs, over.signal).then(() => this.#abort.abort(), () => {});
    while (this.#working.size > 0) await Promise.allSettled(this.#working);
    over.abort(notNeeded);
    await late;
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      this.#lookEarlier = new AbortController();
      this.#looksAt = Infinity;
      const waitMs = await unlessAborted(this.#look(isFirst), signal).catch((error) => {
        logger.error("Cannot look for pushes: {error}", { error });
        return lookMsMin;
      });
      this.#looksAt = clock.elapsed() + (waitMs ?? 0);
      await this.#sleep(lookMsMin, signal);
      const left = Math.max(0, this.#looksAt - clock.elapsed());
      await this.#sleep(left, AbortSignal.any([signal, this.#lookEarlier.signal]));
    }
  }

  /** Claims what is due, and says how long until the next is. */
  async #look(isFirst: boolean): Promise<number> {
    const { clock, store } = this.#options;
    await this.#claim({ isFirst });
    const nextAt = await store.nextPushAt(clock.now());
    return nextAt === undefined ? lookMsMax : Math.max(0, Math.min(nextAt - clock.now(), lookMsMax));
  }

  /** Takes what is due, of one task or of all, into the lines. What the first look finds was owed before the start. */
  async #claim({ taskId, isFirst = false }: { taskId?: TaskId; isFirst?: boolean }): Promise<void> {
    const { clock, random, store } = this.#options;
    const due = await store.duePushes({ now: clock.now(), limit: Infinity, leaseMs, ...(taskId && { taskId }) });
    for (const { url, ...push } of due) {
      const job = { ...push, host: hostOf(url) };
      const name = nameOf(job);
      if (this.#jobs.has(name)) continue; // its claim ran out while it waits; one that is under way looks again itself
      this.#jobs.add(name);
      if (isFirst) this.#own("spreading pushes", this.#queueLater(job, random.fraction() * spreadMs));
      else this.#lines.add(job);
    }
    this.#dispatch();
  }

  async #queueLater(job: PushJob, waitMs: number): Promise<void> {
    if (!await this.#sleep(waitMs, this.#stop.signal)) return;
    this.#lines.add(job);
    this.#dispatch();
  }

  #dispatch(): void {
    if (this.#stop.signal.aborted) return;
    let next = this.#lines.take();
    for (; next.kind === "job"; next = this.#lines.take()) this.#own("a push", this.#work(next.job));
    if (next.waitMs === undefined) return;
    const until = this.#options.clock.elapsed() + next.waitMs;
    if (this.#rateWait !== undefined && this.#rateWait.until <= until) return;
    this.#rateWait?.stop.abort(notNeeded);
    const wait = this.#rateWait = { until, stop: new AbortController() };
    this.#own("waiting for the rate of pushes", this.#dispatchLater(wait, next.waitMs));
  }

  async #dispatchLater(wait: RateWait, waitMs: number): Promise<void> {
    const isTime = await this.#sleep(waitMs, AbortSignal.any([this.#stop.signal, wait.stop.signal]));
    if (this.#rateWait === wait) this.#rateWait = undefined;
    if (isTime) this.#dispatch();
  }

  async #work(job: PushJob): Promise<void> {
    try {
      const tried = await this.#try(job).finally(() => this.#lines.done(job));
      this.#dispatch();
      if (tried === "busy") return this.#own("waiting for the door", this.#queueLater(job, putBackMs));
      if (tried !== undefined) await this.#apply({ id: job.taskId, caller: job.caller }, tried); // may take long: others go on
      this.#over(job);
    } catch (error) {
      this.#own("waiting for the disk", this.#queueLater(job, putBackMs));
      throw error;
    } finally {
      this.#dispatch();
    }
  }

  /** Lets a webhook be claimed again, and looks: a status that came meanwhile found it under way and left it at that. */
  #over(job: PushJob): void {
    this.#jobs.delete(nameOf(job));
    this.#options.store.giveBackPush(job.taskId, job.configId);
    if (!this.#stop.signal.aborted) this.#own("claiming pushes", this.#claim(job));
  }

  /** Sends what the webhook is owed now; undefined when that is nothing, or the host ended. */
  async #try(job: PushJob): Promise<TaskEvent | "busy" | undefined> {
    const { store, standingOf } = this.#options;
    const record = await store.read(job.taskId, job.caller);
    const push = record?.pushes.find(({ target }) => target.id === job.configId);
    if (record === undefined || push === undefined) return undefined;
    const logged = nextStatus(record, push);
    if (logged === undefined || !isOwed(push, record)) return undefined;
    const standing = standingOf(job.caller);
    if (standing === "removed") return { kind: "webhooks stopped" };
    const { target } = push;
    const result = standing === "active" ? await this.#send({ record, target, logged }) : held;
    if (result?.kind === "failed" && result.error === "BUSY") return "busy";
    return result && this.#eventOf(result, { target, seq: logged.seq });
  }

  async #send(push: Parameters<typeof sendPush>[0]): Promise<PushResult | undefined> {
    const { clock, counters, onSent } = this.#options;
    const began = clock.elapsed();
    counters.add("pushes.sent");
    const result = await sendPush(push, { ...this.#options, signal: this.#abort.signal }).catch(broken);
    if (this.#abort.signal.aborted) return undefined;
    onSent?.({ record: push.record, result, ms: clock.elapsed() - began });
    return result;
  }

  #eventOf(result: PushResult, push: SentPush): TaskEvent {
    const { counters, random } = this.#options;
    switch (result.kind) {
      case "taken":
        counters.add("pushes.taken");
        return { kind: "push taken", push };
      case "gone":
        return { kind: "receiver gone", push };
      case "failed": {
        counters.add("pushes.failed");
        const { error, isRefusal, retryAfterMs } = result;
        return { kind: "push failed", push, error, isRefusal, retryAfterMs, fraction: random.fraction() };
      }
      default:
        return result satisfies never;
    }
  }

  /** A full disk is waited for. */
  async #apply(task: { readonly id: TaskId; readonly caller: CallerName }, event: TaskEvent): Promise<void> {
    const applied = await this.#options.writer.apply(task, event, { whenFull: "retry" });
    if (applied.kind === "changed" && event.kind === "push failed") this.#tellFailure(applied.record, event.push);
  }

  #tellFailure(record: TaskRecord, { target }: SentPush): void {
    const { counters } = this.#options;
    const push = record.pushes.find(({ target: { id } }) => id === target.id)!;
    const about = { taskId: record.task.id, host: hostOf(target.url), error: push.lastError, failures: push.failures };
    if (push.state !== "gave up") {
      return logger.debug("A push of task {taskId} to {host} failed: {error}, {failures} times in a row", about);
    }
    counters.add("pushes.gaveUp");
    logger.warning("Gave up the webhook at {host} of task {taskId}: {error}, {failures} times in a row", about);
  }

  /** Says whether the time passed, and the signal did not end it. */
  #sleep(ms: number, signal: AbortSignal): Promise<boolean> {
    return this.#options.clock.sleep(ms, signal).then(() => true, () => false);
  }

  /** Keeps what was started until it is done. A failure of it is a bug, and is logged. */
  #own(what: string, work: Promise<void>): void {
    const owned = work.catch((error) => logger.error("A bug ended {what}: {error}", { what, error }));
    this.#working.add(owned);
    owned.finally(() => this.#working.delete(owned));
  }
}

interface RateWait {
  readonly until: number;
  readonly stop: AbortController;
}

/** The caller may not be served now: as if the receiver could not be reached, for a day. */
const held: PushResult = { kind: "failed", error: "CALLER_HELD", isRefusal: false, bytes: 0 };

function broken(error: unknown): PushResult {
  logger.error("Cannot make a push: {error}", { error });
  return { kind: "failed", error: "INTERNAL", isRefusal: false, bytes: 0 };
}

/** What was stored was a URL once; one that is refused by now is refused again when it is sent to. */
function hostOf(url: string): string {
  try {
    return targetHost(url);
  } catch (error) {
    if (error instanceof OutboundError) return "";
    throw error;
  }
}

function nameOf({ taskId, configId }: PushJob): string {
  return `${taskId} ${configId}`;
}
