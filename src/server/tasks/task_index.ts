import type { CallerName, TaskId } from "@/protocol/ids.ts";
import { isTerminal, type State } from "@/protocol/task.ts";
import type { TimeMs } from "@/time/clock.ts";
import { dedupeName, entryOf, type IndexEntry, type OwedPush } from "./index_entry.ts";
import { readPageToken, writePageToken } from "./page_token.ts";
import { byTime, SortedEntries } from "./sorted_entries.ts";
import type { DedupeKey, TaskRecord } from "./task_record.ts";
import type { Duplicate, ListQuery } from "./task_store.ts";

/** One page of ids, newest first. */
export interface IndexPage {
  readonly kind: "page";
  readonly ids: readonly TaskId[];
  readonly next: string;
  readonly total: number;
}

/**
 * The index of a store, in memory: by caller, context and state, ordered by status time; dedupe keys; due webhooks; runs.
 *
 * A page costs its size and a binary search where one of its orders fits the filter (none, context, state); context and
 * state together walk the context. All methods are synchronous, so a change is one step.
 */
export class TaskIndex {
  readonly #entries = new Map<TaskId, IndexEntry>();
  readonly #callers = new Map<CallerName, CallerOrders>();
  readonly #runs = new Map<TaskId, IndexEntry>();
  readonly #pushes = new Map<TaskId, IndexEntry>();
  readonly #dedupe = new Map<string, { readonly taskId: TaskId; readonly bodyHash: string; readonly until: TimeMs }>();

  /** Says whether the task is known. */
  get(id: TaskId): IndexEntry | undefined {
    return this.#entries.get(id);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Tasks of a caller. */
  count(caller: CallerName): number {
    return this.#callers.get(caller)?.all.length ?? 0;
  }

  /** Who has tasks. */
  get callers(): readonly CallerName[] {
    return [...this.#callers].filter(([, { all }]) => all.length > 0).map(([caller]) => caller);
  }

  /** Puts in or replaces what is known of a task. */
  put(record: TaskRecord): void {
    const entry = entryOf(record);
    const before = this.#entries.get(entry.id);
    if (before !== undefined) this.#takeOut(before);
    this.#entries.set(entry.id, entry);
    let orders = this.#callers.get(entry.caller);
    if (orders === undefined) this.#callers.set(entry.caller, orders = new CallerOrders());
    orders.add(entry);
    if (entry.runs) this.#runs.set(entry.id, entry);
    if (entry.owed.length > 0) this.#pushes.set(entry.id, entry);
    if (entry.dedupeName !== undefined) {
      const { bodyHash, until } = record.dedupe!;
      // An old task keeps a key that ran out and that a newer one has by now.
      const isNewest = until >= (this.#dedupe.get(entry.dedupeName)?.until ?? 0);
      if (isNewest) this.#dedupe.set(entry.dedupeName, { taskId: entry.id, bodyHash, until });
    }
  }

  remove(id: TaskId): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#takeOut(entry);
    this.#entries.delete(id);
    const { dedupeName } = entry;
    if (dedupeName !== undefined && this.#dedupe.get(dedupeName)?.taskId === id) this.#dedupe.delete(dedupeName);
  }

  /** The task that has this dedupe key at `now`. */
  duplicateOf(caller: CallerName, key: DedupeKey, now: TimeMs): Duplicate | undefined {
    const name = dedupeName(caller, key);
    const found = this.#dedupe.get(name);
    if (found === undefined) return undefined;
    if (found.until <= now) {
      this.#dedupe.delete(name);
      return undefined;
    }
    return found.bodyHash === key.bodyHash ? { kind: "duplicate", taskId: found.taskId } : { kind: "conflict" };
  }

  list(query: ListQuery): IndexPage | { readonly kind: "bad page token" } {
    const key = query.pageToken === "" ? undefined : readPageToken(query);
    if (query.pageToken !== "" && key === undefined) return { kind: "bad page token" };
    const { order, fits } = this.#orderFor(query);
    const start = query.since === undefined ? 0 : order.from({ at: query.since, id: "" });
    let end = key === undefined ? order.length : order.from(key);
    const ids: TaskId[] = [];
    let last: IndexEntry | undefined;
    for (; end > start && ids.length < query.pageSize; end--) {
      const entry = order.at(end - 1)!;
      if (fits && !fits(entry)) continue;
      ids.push(entry.id);
      last = entry;
    }
    while (fits && end > start && !fits(order.at(end - 1)!)) end--;
    const next = end > start && last !== undefined ? writePageToken(last, query) : "";
    return { kind: "page", ids, next, total: total({ order, fits }, start) };
  }

  /** Tasks with a run, queued or at work, oldest first. */
  runs(): readonly IndexEntry[] {
    return [...this.#runs.values()].sort(byQueuedAt);
  }

  /** Queued runs: each caller's oldest first, then each caller's second, and so on. */
  queued(limit: number): readonly TaskId[] {
    const places = new Map<CallerName, number>();
    const ranked = this.runs().filter(({ state }) => state === "TASK_STATE_SUBMITTED").map((entry) => {
      const place = places.get(entry.caller) ?? 0;
      places.set(entry.caller, place + 1);
      return { entry, place };
    });
    return ranked.sort((a, b) => a.place - b.place || byQueuedAt(a.entry, b.entry)).slice(0, limit)
      .map(({ entry }) => entry.id);
  }

  /** Tasks that wait for their caller, or are terminal, whose status is older than `before`, oldest first within each caller. */
  aged(which: "waiting" | "terminal", before: TimeMs, limit: number): readonly TaskId[] {
    const isWanted = which === "terminal" ? isTerminal : (state: State) => state === "TASK_STATE_INPUT_REQUIRED";
    const found: IndexEntry[] = [];
    for (const { byState } of this.#callers.values()) {
      for (const [state, order] of byState) {
        if (!isWanted(state)) continue;
        const end = Math.min(order.from({ at: before, id: "" }), limit);
        for (let place = 0; place < end; place++) found.push(order.at(place)!);
      }
    }
    return found.sort(byTime).slice(0, limit).map(({ id }) => id);
  }

  /** A caller's tasks that are not terminal, oldest first. */
  unfinished(caller: CallerName): readonly TaskId[] {
    const states = [...this.#callers.get(caller)?.byState ?? []].filter(([state]) => !isTerminal(state));
    return states.flatMap(([, order]) => [...order]).sort(byTime).map(({ id }) => id);
  }

  /** A caller's oldest terminal task that nothing waits for. */
  oldestForgettable(caller: CallerName): TaskId | undefined {
    let oldest: IndexEntry | undefined;
    for (const [state, order] of this.#callers.get(caller)?.byState ?? []) {
      if (!isTerminal(state)) continue;
      for (let place = 0; place < order.length; place++) {
        const entry = order.at(place)!;
        if (oldest !== undefined && byTime(oldest, entry) < 0) break;
        if (entry.forgettable) oldest = entry;
      }
    }
    return oldest?.id;
  }

  /** Webhooks that want to be told something, of one task or of all, in no order. */
  *owed(id?: TaskId): Generator<OwedPush & { readonly entry: IndexEntry }, void, void> {
    const one = id === undefined ? undefined : this.#pushes.get(id);
    const entries = id === undefined ? this.#pushes.values() : one === undefined ? [] : [one];
    for (const entry of entries) for (const push of entry.owed) yield { entry, ...push };
  }

  /** How many webhooks of a caller are not over. */
  webhooks(caller: CallerName): number {
    return this.#callers.get(caller)?.webhooks ?? 0;
  }

  /** A caller's tasks with webhooks that are not over. */
  withWebhooks(caller: CallerName): readonly TaskId[] {
    if (this.webhooks(caller) === 0) return [];
    return [...this.#callers.get(caller)!.all].filter(({ webhooks }) => webhooks > 0).map(({ id }) => id);
  }

  #orderFor(query: ListQuery): OrderOfQuery {
    const orders = this.#callers.get(query.caller);
    const { contextId, state } = query;
    if (contextId !== undefined) {
      return {
        order: orders?.byContext.get(contextId) ?? new SortedEntries(),
        fits: state === undefined ? undefined : (entry) => entry.state === state,
      };
    }
    const order = state === undefined ? orders?.all : orders?.byState.get(state);
    return { order: order ?? new SortedEntries(), fits: undefined };
  }

  #takeOut(entry: IndexEntry): void {
    this.#callers.get(entry.caller)!.remove(entry);
    this.#runs.delete(entry.id);
    this.#pushes.delete(entry.id);
  }
}

/** The order that serves a query, and what of it the query wants; all when `fits` is undefined. */
interface OrderOfQuery {
  readonly order: SortedEntries;
  readonly fits: ((entry: IndexEntry) => boolean) | undefined;
}

/** One caller's tasks in the orders that a list may ask for. */
class CallerOrders {
  readonly all = new SortedEntries();
  readonly byState = new Map<State, SortedEntries>();
  readonly byContext = new Map<string, SortedEntries>();
  /** Webhooks that are not over, of all of them. */
  webhooks = 0;

  add(entry: IndexEntry): void {
    this.webhooks += entry.webhooks;
    this.all.add(entry);
    order(this.byState, entry.state).add(entry);
    order(this.byContext, entry.contextId).add(entry);
  }

  remove(entry: IndexEntry): void {
    this.webhooks -= entry.webhooks;
    this.all.remove(entry);
    this.byState.get(entry.state)!.remove(entry);
    const inContext = this.byContext.get(entry.contextId)!;
    inContext.remove(entry);
    if (inContext.length === 0) this.byContext.delete(entry.contextId);
  }
}

function order<K>(orders: Map<K, SortedEntries>, key: K): SortedEntries {
  let found = orders.get(key);
  if (found === undefined) orders.set(key, found = new SortedEntries());
  return found;
}

function total({ order, fits }: OrderOfQuery, start: number): number {
  if (fits === undefined) return order.length - start;
  let count = 0;
  for (let place = start; place < order.length; place++) if (fits(order.at(place)!)) count++;
  return count;
}

function byQueuedAt(a: IndexEntry, b: IndexEntry): number {
  return a.queuedAt - b.queuedAt || (a.id < b.id ? -1 : 1);
}
