import { getLogger } from "@logtape/logtape";
import type { Counters } from "@/counters.ts";
import { targetHost } from "@/outbound/target_url.ts";
import type { CallerName } from "@/protocol/ids.ts";
import type { Random } from "@/random.ts";
import { nextStatus, type SentPush } from "@/server/tasks/push_lifecycle.ts";
import { isOwed, type PushState, type TaskRecord } from "@/server/tasks/task_record.ts";
import type { DuePush, TaskStore } from "@/server/tasks/task_store.ts";
import type { TaskEvent } from "@/server/tasks/lifecycle.ts";
import type { TaskWriter } from "@/server/tasks/task_writer.ts";
import type { TimeMs } from "@/time/clock.ts";
import { notNeeded } from "@/time/not_needed.ts";
import { type PushExchangeOptions, type PushResult, sendPush } from "./push_exchange.ts";
import { type PushJob, type PushLimits, PushLines } from "./push_lines.ts";

const logger = getLogger(["a2a", "server", "push"]);

/** How long a claim holds; what is held longer was lost, or waits for its turn and is asked for again. */
const leaseMs = 60_000;
/** The longest that nobody looks, in case a wake was lost. */
const lookMsMax = 5 * 60_000;
/** How long until the next look after one that could not claim what is due. */
const stuckMs = 1_000;
/** Over how long what was owed before the start is spread. */
const spreadMs = 30_000;
/** How long pushes under way may go on when the host ends. */
const graceMs = 2_000;
/** Webhooks that wait here at once; the others stay where they are stored. */
const jobsMax = 10_000;
const limits: Omit<PushLimits, "perMinuteMax"> = { atOnceMax: 64, atOncePerHostMax: 4, atOncePerCallerMax: 16 };

/** Whether a caller's webhooks are still told: its time may be over, or its entry gone. */
export type Standing = "active" | "expired" | "removed";

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
  /** By name. Those that wait, in a line or for the spread after a start, read what they are owed when they go. */
  readonly #jobs = new Map<string, "waiting" | "under way">();
  /** Claimed anew while they were under way. */
  readonly #again = new Map<string, DuePush>();
  readonly #working = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  /** Ends what is under way. */
  readonly #abort = new AbortController();
  readonly #startedAt: TimeMs;
  #looksAt = Infinity;
  #lookEarlier = new AbortController();
  #isWaitingForRate = false;

  constructor(options: PushQueueOptions) {
    this.#options = options;
    const { clock, perMinuteMax } = options;
    this.#lines = new PushLines({ ...limits, perMinuteMax, clock });
    this.#startedAt = clock.now();
    this.#own("looking for pushes", this.#run());
  }

  /** A record was committed: looks whether its webhooks are to be told something. Returns at once, never throws. */
  wake(record: TaskRecord): void {
    if (this.#stop.signal.aborted) return;
    const owed = record.pushes.filter((push) => isOwed(push, record));
    if (owed.length === 0) return;
    const first = Math.min(...owed.map(({ nextAt }) => nextAt!));
    if (first <= this.#options.clock.now()) this.#own("claiming pushes", this.#claim(record));
    else if (first < this.#looksAt) this.#lookEarlier.abort(notNeeded);
  }

  /** Stops the webhooks of a caller that was removed, also those of tasks that are over. */
  async expel(caller: CallerName): Promise<void> {
    for (const record of await this.#options.store.withWebhooks(caller)) {
      await this.#apply(record, { kind: "webhooks stopped" });
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
    while (!signal.aborted) {
      this.#lookEarlier = new AbortController();
      this.#looksAt = Infinity;
      const waitMs = await this.#look().catch((error) => {
        logger.error("Cannot look for pushes: {error}", { error });
        return stuckMs;
      });
      this.#looksAt = clock.now() + waitMs;
      await clock.sleep(waitMs, AbortSignal.any([signal, this.#lookEarlier.signal])).catch(() => {});
    }
  }

  /** Claims what is due, and says how long until the next is. */
  async #look(): Promise<number> {
    const { clock, store } = this.#options;
    await this.#claim();
    if (this.#isFull) return lookMsMax;
    const nextAt = await store.nextPushAt(clock.now());
    if (nextAt === undefined) return lookMsMax;
    const waitMs = nextAt - clock.now();
    return waitMs <= 0 ? stuckMs : Math.min(waitMs, lookMsMax); // what is due and was not claimed cannot be read now
  }

  get #isFull(): boolean {
    return this.#jobs.size >= jobsMax;
  }

  /** Takes what is due, of one task or of all, into the lines. */
  async #claim(of?: TaskRecord): Promise<void> {
    const { clock, store } = this.#options;
    const limit = jobsMax - this.#jobs.size;
    const due = await store.duePushes({ now: clock.now(), limit, leaseMs, ...(of && { taskId: of.task.id }) });
    for (const one of due) this.#queue(one);
    this.#dispatch();
  }

  #queue(due: DuePush): void {
    const { clock, random } = this.#options;
    const { record, configId } = due;
    const push = record.pushes.find(({ target }) => target.id === configId)!;
    const job = { taskId: record.task.id, caller: record.caller, configId, host: hostOf(push) };
    const name = nameOf(job);
    const known = this.#jobs.get(name);
    if (known === "under way") this.#again.set(name, due);
    if (known !== undefined) return;
    this.#jobs.set(name, "waiting");
    const waitMs = push.nextAt! < this.#startedAt ? this.#startedAt + random.fraction() * spreadMs - clock.now() : 0;
    if (waitMs <= 0) return this.#lines.add(job);
    this.#own("spreading pushes", this.#queueLater(job, waitMs));
  }

  async #queueLater(job: PushJob, waitMs: number): Promise<void> {
    const isTime = await this.#options.clock.sleep(waitMs, this.#stop.signal).then(() => true, () => false);
    if (!isTime) return;
    this.#lines.add(job);
    this.#dispatch();
  }

  #dispatch(): void {
    if (this.#stop.signal.aborted) return;
    for (let job = this.#lines.take(); job !== undefined; job = this.#lines.take()) {
      this.#own("a push", this.#work(job));
    }
    const waitMs = this.#lines.waitMs;
    if (waitMs === undefined || this.#isWaitingForRate) return;
    this.#isWaitingForRate = true;
    this.#own("waiting for the rate of pushes", this.#dispatchLater(waitMs));
  }

  async #dispatchLater(waitMs: number): Promise<void> {
    await this.#options.clock.sleep(waitMs, this.#stop.signal).catch(() => {});
    this.#isWaitingForRate = false;
    this.#dispatch();
  }

  async #work(job: PushJob): Promise<void> {
    const name = nameOf(job);
    this.#jobs.set(name, "under way");
    try {
      const tried = await this.#try(job).finally(() => this.#lines.done(job));
      this.#dispatch();
      if (tried !== undefined) await this.#apply(tried.record, tried.event); // may take long: others go on
    } finally {
      this.#jobs.delete(name);
      const again = this.#again.get(name);
      this.#again.delete(name);
      if (again !== undefined) this.#queue(again);
      if (this.#isFull && this.#jobs.size < jobsMax / 2) this.#lookEarlier.abort(notNeeded);
      this.#dispatch();
    }
  }

  /** Sends what the webhook is owed now; undefined when that is nothing, or the host ended. */
  async #try(job: PushJob): Promise<{ readonly record: TaskRecord; readonly event: TaskEvent } | undefined> {
    const { store, clock, standingOf } = this.#options;
    const record = await store.read(job.taskId, job.caller);
    const push = record?.pushes.find(({ target }) => target.id === job.configId);
    if (record === undefined || push === undefined) return undefined;
    const logged = nextStatus(record, push);
    if (logged === undefined || !isOwed(push, record) || push.nextAt! > clock.now()) return undefined;
    const standing = standingOf(job.caller);
    if (standing === "removed") return { record, event: { kind: "webhooks stopped" } };
    const { target } = push;
    const result = standing === "expired" ? held : await this.#send({ record, target, logged });
    return result && { record, event: this.#eventOf(result, { target, seq: logged.seq }) };
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
  async #apply({ task: { id }, caller }: TaskRecord, event: TaskEvent): Promise<void> {
    const applied = await this.#options.writer.apply({ id, caller }, event, { whenFull: "retry" });
    if (applied.kind === "changed" && event.kind === "push failed") this.#tellFailure(applied.record, event.push);
  }

  #tellFailure(record: TaskRecord, { target }: SentPush): void {
    const { counters } = this.#options;
    const push = record.pushes.find(({ target: { id } }) => id === target.id)!;
    const about = { taskId: record.task.id, host: hostOf({ target }), error: push.lastError, failures: push.failures };
    if (push.state !== "gave up") {
      return logger.debug("A push of task {taskId} to {host} failed: {error}, {failures} times in a row", about);
    }
    counters.add("pushes.gaveUp");
    logger.warning("Gave up the webhook at {host} of task {taskId}: {error}, {failures} times in a row", about);
  }

  /** Keeps what was started until it is done. A failure of it is a bug, and is logged. */
  #own(what: string, work: Promise<void>): void {
    const owned = work.catch((error) => logger.error("A bug ended {what}: {error}", { what, error }));
    this.#working.add(owned);
    owned.finally(() => this.#working.delete(owned));
  }
}

/** The caller may not be served now: as if the receiver could not be reached, for a day. */
const held: PushResult = { kind: "failed", error: "CALLER_EXPIRED", isRefusal: false, bytes: 0 };

function broken(error: unknown): PushResult {
  logger.error("Cannot make a push: {error}", { error });
  return { kind: "failed", error: "INTERNAL", isRefusal: false, bytes: 0 };
}

/** What was stored was a URL once; one that is none any more is refused when it is sent to. */
function hostOf({ target }: Pick<PushState, "target">): string {
  return URL.canParse(target.url) ? targetHost(target.url) : "";
}

function nameOf({ taskId, configId }: PushJob): string {
  return `${taskId} ${configId}`;
}
