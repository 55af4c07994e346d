import type { Host } from "@/workspace_host.ts";
import type { TaskId } from "@/protocol/ids.ts";
import { isTerminal, type MessageJson, type PartJson, type StatusJson } from "@/protocol/task.ts";
import { systemRandom } from "@/random.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import type { Accepted } from "@/server/runs/submission.ts";
import { parseTime, systemClock } from "@/time/clock.ts";
import { createSeededRandom, type SeededRandom } from "@tests/fakes/seeded_random.ts";
import { ChildCaller } from "@tests/kill/child_caller.ts";
import type { DiskMoments } from "@tests/kill/child_disk.ts";
import { type ChildJob, type Sent, writeLine } from "@tests/kill/child_line.ts";
import { callers } from "@tests/kill/child_tasks.ts";

const workersMax = 16;
/** Contexts of each caller: few enough that some are busy. */
const contextsMax = 8;
/** Open questions, over which no more are left open. */
const waitingMax = 40;
const pruneEveryMs = 200;
/** When a lull begins, and how long it is at most: a checkpoint comes after 250 to 500 ms without a commit. */
const lullAfterMs = 150;
const lullMsMax = 1_000;
/** When a write is cut at the earliest, after so long at work; at the latest twice that. */
const tearAfterMs = 100;
/** The path of the file that a style cuts. */
const tornPaths: Readonly<Record<string, RegExp>> = {
  "torn journal": /\/journal-\d+\.jsonl$/,
  "torn transcript": /\/sessions\//,
  "torn record": /\/tasks\/[0-9a-f-]{36}\.json\..*\.tmp$/,
};

/** What a message makes the faux engine do, by how often it is sent. `worker` keeps files apart that are written at once. */
const recipes: readonly (readonly [weight: number, text: (worker: number) => string])[] = [
  [30, () => "Hello"],
  [12, () => "stream: 60"],
  [12, () => "wait: 20ms\nThere you are"],
  [12, () => "ask: Which?"],
  [2, () => "So far so good\nask: Which?"],
  [9, (worker) => `file: made-${worker}.bin 40000 bytes\nHere it is`],
  [4, (worker) => `file: made-${worker}.txt all is well\nask: More?`],
  [3, () => "stream: 1000 x 300"],
  [5, () => "fail: no"],
  [5, () => "Half of it\nhang"],
  [2, () => "notify: it is done\ntool: search all of it"],
];

/** Callers that keep a host busy until it is killed or told to stop. */
export class ChildLoad implements DiskMoments {
  readonly #host: Host;
  readonly #job: ChildJob;
  readonly #callers: readonly ChildCaller[];
  readonly #stopping = new AbortController();
  readonly #waiting: Known[] = [];
  /** What was queued or at work when the round before ended. */
  readonly #running: Known[] = [];
  readonly #random: SeededRandom;
  /** When a write is cut; undefined before the work begins, and when it was. */
  #tearAt: number | undefined;
  /** While all pause. */
  #lull: AbortController | undefined;
  /** Terminal tasks, until they are pruned. */
  readonly #over: (Known & { readonly at: number })[] = [];

  constructor(host: Host, job: ChildJob, left: readonly TaskRecord[]) {
    this.#host = host;
    this.#job = job;
    this.#random = createSeededRandom(job.seed);
    this.#callers = callers.map((name) => new ChildCaller(host, name));
    for (const { caller, task, run } of left) {
      const known = this.#callers[callers.indexOf(caller)]!;
      if (run === null) this.#remember(known, task);
      else this.#running.push({ caller: known, id: task.id });
    }
  }

  /** Works until `stop`. Rejects on what no caller may ever see. */
  async work(): Promise<void> {
    const random = this.#random;
    this.#tearAt = systemClock.elapsed() + tearAfterMs * (1 + random.fraction());
    const workers = Array.from({ length: workersMax }, () => createSeededRandom(random.below(2 ** 32)));
    await Promise.all([
      ...this.#running.map((known) => this.#cancelSoon(known, random)), // some of it would hang
      ...this.#job.again.map((sent) => this.#sendAgain(sent)),
      ...workers.map((own, number) => this.#workOn(own, number)),
      this.#prune(),
      this.#pauseAll(),
    ]);
  }

  stop(): void {
    this.#stopping.abort();
    this.#lull?.abort();
  }

  saving(): void {
    if (this.#lull === undefined || this.#lull.signal.aborted) return;
    writeLine({ kind: "saving" });
    this.#lull.abort(); // the others go on while the checkpoint runs
  }

  cut(path: string): number | undefined {
    const isTime = this.#tearAt !== undefined && systemClock.elapsed() >= this.#tearAt;
    if (!isTime || !tornPaths[this.#job.style]?.test(path)) return undefined;
    this.#tearAt = undefined;
    return this.#random.fraction();
  }

  torn(): void {
    writeLine({ kind: "torn" });
  }

  async #workOn(random: SeededRandom, number: number): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      if (this.#lull !== undefined) await systemClock.sleep(lullMsMax, this.#lull.signal).catch(() => {});
      const old = random.chance(this.#waiting.length / waitingMax) ? this.#waiting.shift() : undefined;
      if (old === undefined) await this.#begin(random, number);
      else await this.#settle(old, random);
    }
  }

  async #begin(random: SeededRandom, number: number): Promise<void> {
    const caller = random.pick(this.#callers);
    const text = random.weighted(recipes)(number);
    const messageId = systemRandom.uuid();
    const sent = random.chance(0.1) ? { caller: caller.name, messageId, text } : undefined;
    if (sent !== undefined) writeLine({ kind: "sending", sent });
    const parts: PartJson[] = [{ text }, ...random.chance(0.06) ? [upload] : []];
    const contextId = sent === undefined ? `${this.#job.contexts}-${random.below(contextsMax)}` : undefined;
    const accepted = await caller.begin({ messageId, role: "ROLE_USER", parts, contextId }, sent);
    if (accepted === undefined) return await this.#pause(1);
    const isCanceled = text.endsWith("hang") || random.chance(0.06);
    if (isCanceled) void this.#cancelSoon({ caller, id: accepted.task.id }, random);
    await this.#followOn(caller, accepted, random);
  }

  /** Answers the question of a task, or cancels it. */
  async #settle(known: Known, random: SeededRandom): Promise<void> {
    if (random.chance(0.2)) return await this.#cancelSoon(known, random);
    const message: MessageJson = {
      messageId: systemRandom.uuid(),
      role: "ROLE_USER",
      parts: [{ text: random.chance(0.15) ? "ask: And which else?" : "Blue" }],
    };
    const accepted = await known.caller.answer(known.id, message);
    if (accepted !== undefined) await this.#followOn(known.caller, accepted, random);
    else await this.#pause(1);
  }

  async #followOn(caller: ChildCaller, accepted: Accepted, random: SeededRandom): Promise<void> {
    const followed = await caller.follow(accepted);
    const isAsked = followed.status.state === "TASK_STATE_INPUT_REQUIRED";
    if (isAsked && random.chance(0.7)) await this.#settle({ caller, id: followed.id }, random);
    else this.#remember(caller, followed);
  }

  async #sendAgain(sent: Sent): Promise<void> {
    const caller = this.#callers[callers.indexOf(sent.caller)]!;
    const message: MessageJson = { messageId: sent.messageId, role: "ROLE_USER", parts: [{ text: sent.text }] };
    const accepted = await caller.begin(message, sent);
    if (accepted === undefined) return;
    if (sent.text.endsWith("hang")) void caller.cancel(accepted.task.id);
    this.#remember(caller, await caller.follow(accepted));
  }

  async #cancelSoon({ caller, id }: Known, random: SeededRandom): Promise<void> {
    await this.#pause(random.below(20));
    const status = await caller.cancel(id);
    if (status !== undefined) this.#remember(caller, { id, status });
  }

  /** Lets the host prune, and says what is gone. */
  async #prune(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.#pause(pruneEveryMs);
      await this.#host.runs.sweep();
      const due = systemClock.now() - this.#job.keepMs;
      for (let place = this.#over.length - 1; place >= 0; place--) {
        const { caller, id, at } = this.#over[place]!;
        if (at >= due || await this.#host.store.read(id, caller.name) !== undefined) continue;
        this.#over.splice(place, 1);
        writeLine({ kind: "removed", id });
      }
    }
  }

  async #pauseAll(): Promise<void> {
    if (this.#job.style !== "lull") return;
    await this.#pause(lullAfterMs);
    this.#lull = new AbortController();
    await systemClock.sleep(lullMsMax, AbortSignal.any([this.#lull.signal, this.#stopping.signal])).catch(() => {});
    this.#lull.abort();
    this.#lull = undefined;
  }

  #remember(caller: ChildCaller, { id, status }: { readonly id: TaskId; readonly status: StatusJson }): void {
    if (status.state === "TASK_STATE_INPUT_REQUIRED") this.#waiting.push({ caller, id });
    if (isTerminal(status.state)) this.#over.push({ caller, id, at: parseTime(status.timestamp) });
  }

  async #pause(ms: number): Promise<void> {
    await systemClock.sleep(ms, this.#stopping.signal).catch(() => {});
  }
}

interface Known {
  readonly caller: ChildCaller;
  readonly id: TaskId;
}

const upload: PartJson = {
  raw: new Uint8Array(50_000).fill(7).toBase64(),
  filename: "notes.txt",
  mediaType: "text/plain",
};
