/**
 * What the parts count, and what each count means.
 *
 * A name is a constant of the program: no caller's name, no id, nothing that grows with use. So a snapshot is always of
 * this size.
 */
export const counterTable = {
  "tasks.created": "Tasks that were accepted and stored",
  "tasks.settled.completed": "Tasks that ended completed",
  "tasks.settled.failed": "Tasks that ended failed",
  "tasks.settled.canceled": "Tasks that ended canceled",
  "tasks.asked": "Times a task began to wait for its caller",
  "tasks.pruned": "Tasks that were removed for their age or number",
  "tasks.lost": "Tasks that failed because the host ended while they ran",
  "tasks.requeued": "Tasks that were queued again after a crash, because nothing of them had run",
  "commits": "Commits that became durable",
  "commit.retries": "Commits that had to be tried again, as on a full disk",
  "journal.flushes": "Flushes of the journal; each may carry many commits",
  "journal.bytes": "Bytes written to the journal",
  "checkpoints": "Task files written from the journal",
  "runs.started": "Runs that got a slot",
  "runs.refused.busy": "Messages refused because their context was at work",
  "runs.refused.queueFull": "Messages refused because the queue of runs was full",
  "runs.refused.storageFull": "Messages refused because the disk was full",
  "runs.refused.draining": "Messages refused because the host was ending",
  "runs.killed": "Runs whose engine ignored an abort and was killed",
  "downloads": "Files of callers that were fetched",
  "downloads.failed": "Files of callers that could not be fetched",
  "events.dropped": "Events of a run that no longer held its task",
  "turns": "Turns of an engine",
  "sessions.opened": "Sessions opened or resumed",
  "sessions.evicted": "Sessions closed because they were idle, or one too many",
  "progress.dropped": "Pieces of partial text that a slow reader got merged into later ones",
  "pushes.sent": "Pushes that were tried",
  "pushes.taken": "Pushes that their receiver took",
  "pushes.failed": "Pushes that failed, to be tried again",
  "pushes.gaveUp": "Webhooks that were given up",
  "notices": "Notices to the owner that were stored",
  "notices.refused": "Notices to the owner that were over the limit",
} as const;

/** What the parts set to a present value, rather than count. */
export const gaugeTable = {
  "runs.running": "Runs that hold a slot now",
  "runs.queued": "Runs that wait for a slot now",
  "sessions.open": "Sessions that are open now",
  "journal.unflushedBytes": "Bytes that wait for a flush of the journal now",
} as const;

/** A name that can be counted: a row of `counterTable`. */
export type CounterName = keyof typeof counterTable;

/** A name that can be set: a row of `gaugeTable`. */
export type GaugeName = keyof typeof gaugeTable;

/** The values of all counters and gauges at one moment, those never touched included, as 0. */
export type CounterSnapshot = Readonly<Record<CounterName | GaugeName, number>>;

/**
 * Counts what happens at the seams: cheap enough for every commit, and the numbers that tests, `/readyz` and a
 * benchmark look at.
 *
 * One object a host, made in `app.ts` and lent to the parts. Counts start at 0 with the process and only grow.
 */
export class Counters {
  readonly #values: Record<CounterName | GaugeName, number>;

  constructor() {
    const names = [...Object.keys(counterTable), ...Object.keys(gaugeTable)];
    this.#values = Object.fromEntries(names.map((name) => [name, 0])) as Record<CounterName | GaugeName, number>;
  }

  /** Adds `by` to a counter. */
  add(name: CounterName, by = 1): void {
    this.#values[name] += by;
  }

  /** Sets a gauge to its present value. */
  set(name: GaugeName, value: number): void {
    this.#values[name] = value;
  }

  /** A copy of all values: what is counted later does not change it. */
  snapshot(): CounterSnapshot {
    return { ...this.#values };
  }
}
