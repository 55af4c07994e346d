import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { BlobRef } from "@/protocol/task.ts";
import type { Clock, TimeMs } from "@/time/clock.ts";
import { sha256Hex } from "@/workspace/sha256.ts";
import { Leases } from "@/server/tasks/leases.ts";
import { requireSuccessor } from "@/server/tasks/lifecycle.ts";
import { PushClaims } from "@/server/tasks/push_claims.ts";
import { storableText } from "@/server/tasks/record_json.ts";
import { TaskFeed } from "@/server/tasks/task_feed.ts";
import { TaskIndex } from "@/server/tasks/task_index.ts";
import { StorageFull } from "@/server/tasks/task_store.ts";
import type { Fence, Rev, TaskRecord } from "@/server/tasks/task_record.ts";
import type {
  CommitOptions,
  ContextKey,
  Created,
  CreateOptions,
  DuePush,
  DuePushQuery,
  Duplicate,
  Lease,
  ListQuery,
  Progress,
  TaskPage,
  TaskStore,
} from "@/server/tasks/task_store.ts";

/** What a test can put before a change becomes visible: an order, or a failure. */
export type BeforeCommit = (next: TaskRecord) => Promise<void> | void;

/**
 * A store that forgets with its process. Two run services over one of these are two replicas over one database, which is
 * what keeps the store interface honest; and it is the model that the file store is compared with.
 */
export class MemoryTaskStore implements TaskStore {
  readonly #clock: Clock;
  readonly #storedTasksMax: number;
  readonly #beforeCommit: BeforeCommit;
  readonly #isRoomLeft: () => boolean;
  readonly #records = new Map<TaskId, TaskRecord>();
  readonly #blobs = new Map<TaskId, Map<string, Uint8Array<ArrayBuffer>>>();
  readonly #index = new TaskIndex();
  readonly #claims = new PushClaims(this.#index);
  readonly #feed = new TaskFeed();
  readonly #leases: Leases;

  /** `isRoomLeft` false: no message is to be taken. */
  constructor(
    options: { clock: Clock; storedTasksMax?: number; beforeCommit?: BeforeCommit; isRoomLeft?: () => boolean },
  ) {
    this.#clock = options.clock;
    this.#storedTasksMax = options.storedTasksMax ?? 10_000;
    this.#beforeCommit = options.beforeCommit ?? (() => {});
    this.#isRoomLeft = options.isRoomLeft ?? (() => true);
    this.#leases = new Leases({ clock: options.clock, firstFence: 1 as Fence });
  }

  async create(record: TaskRecord, { onDurable, onPruned }: CreateOptions = {}): Promise<Created> {
    if (!this.#isRoomLeft()) return { kind: "full", of: "disk" };
    try {
      await this.#before(record, { bringsContent: true });
    } catch (error) {
      if (error instanceof StorageFull) return { kind: "full", of: "disk" };
      throw error;
    }
    const { caller, dedupe } = record;
    const duplicate = dedupe && this.#index.duplicateOf(caller, dedupe, this.#clock.now());
    if (duplicate !== undefined) return duplicate;
    let pruned: TaskRecord | undefined;
    if (this.#index.count(caller) >= this.#storedTasksMax) {
      const oldest = this.#index.oldestForgettable(caller);
      if (oldest === undefined) return { kind: "full", of: "tasks" };
      pruned = this.#forget(oldest);
    }
    this.#records.set(record.task.id, record);
    this.#index.put(record);
    onDurable?.();
    if (pruned !== undefined) await onPruned?.(pruned);
    return { kind: "created" };
  }

  hasRoom(): Promise<boolean> {
    return Promise.resolve(this.#isRoomLeft());
  }

  duplicateOf(caller: CallerName, key: Parameters<TaskStore["duplicateOf"]>[1]): Promise<Duplicate | undefined> {
    return Promise.resolve(this.#index.duplicateOf(caller, key, this.#clock.now()));
  }

  read(id: TaskId, caller: CallerName): Promise<TaskRecord | undefined> {
    const record = this.#records.get(id);
    return Promise.resolve(record?.caller === caller ? record : undefined);
  }

  async commit(
    expected: Rev,
    next: TaskRecord,
    options: CommitOptions = {},
  ): Promise<"committed" | "stale" | "fenced"> {
    await this.#before(next, { bringsContent: false, ...options });
    const record = this.#records.get(next.task.id);
    if (record?.rev !== expected) return "stale";
    requireSuccessor(record, next);
    const key = { caller: next.caller, contextId: next.task.contextId };
    if (options.as !== undefined && !this.#leases.holds(key, options.as)) return "fenced";
    this.#records.set(next.task.id, next);
    this.#index.put(next);
    this.#claims.committed(record, next);
    if (options.release !== undefined) this.#leases.release(options.release);
    options.onDurable?.();
    this.#feed.publish(next);
    return "committed";
  }

  list(query: ListQuery): Promise<TaskPage | { readonly kind: "bad page token" }> {
    const page = this.#index.list(query);
    if (page.kind !== "page") return Promise.resolve(page);
    const { next, total, ids } = page;
    return Promise.resolve({ kind: "page", tasks: this.#all(ids), next, total });
  }

  remove(id: TaskId, expected: Rev): Promise<"removed" | "stale"> {
    if (this.#records.get(id)?.rev !== expected || !this.#index.get(id)?.forgettable) return Promise.resolve("stale");
    this.#forget(id);
    return Promise.resolve("removed");
  }

  async putBlob(taskId: TaskId, bytes: ReadableStream<Uint8Array>, bytesMax: number): Promise<BlobRef | "too large"> {
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of bytes) {
      size += piece.length;
      if (size > bytesMax) return "too large";
      pieces.push(piece);
    }
    const whole = new Uint8Array(await new Blob(pieces as BlobPart[]).arrayBuffer());
    const blob = sha256Hex(whole);
    let blobs = this.#blobs.get(taskId);
    if (blobs === undefined) this.#blobs.set(taskId, blobs = new Map());
    blobs.set(blob, whole);
    return { blob, bytes: whole.length };
  }

  // deno-lint-ignore require-await -- a missing blob must reject, not throw
  async openBlob(taskId: TaskId, ref: BlobRef): Promise<ReadableStream<Uint8Array>> {
    const bytes = this.#blobs.get(taskId)?.get(ref.blob);
    if (bytes === undefined) throw new Error(`Cannot open a blob of task ${taskId}: it is not there`);
    return new Blob([bytes]).stream();
  }

  follow(id: TaskId, caller: CallerName, signal: AbortSignal): ReturnType<TaskStore["follow"]> {
    const record = this.#records.get(id);
    return Promise.resolve(record?.caller === caller ? this.#feed.follow(record, signal) : undefined);
  }

  progress(note: Progress, fence: Fence): void {
    const record = this.#records.get(note.taskId);
    if (record?.run?.fence === fence) this.#feed.progress(note);
  }

  lease(key: ContextKey, taskId: TaskId, ttlMs: number): ReturnType<TaskStore["lease"]> {
    return Promise.resolve(this.#leases.take(key, taskId, ttlMs));
  }

  renew(lease: Lease, ttlMs: number): Promise<Lease | "lost"> {
    return Promise.resolve(this.#leases.renew(lease, ttlMs));
  }

  release(lease: Lease): Promise<void> {
    return Promise.resolve(this.#leases.release(lease));
  }

  abandoned(limit: number): Promise<readonly TaskRecord[]> {
    const records = this.#all(this.#index.runs().map(({ id }) => id));
    return Promise.resolve(records.filter((record) => !this.#leases.backs(record)).slice(0, limit));
  }

  queued(limit: number): Promise<readonly TaskRecord[]> {
    return Promise.resolve(this.#all(this.#index.queued(limit)));
  }

  aged(state: "waiting" | "terminal", before: TimeMs, limit: number): Promise<readonly TaskRecord[]> {
    return Promise.resolve(this.#all(this.#index.aged(state, before, limit)));
  }

  unfinished(caller: CallerName, limit: number): Promise<readonly TaskRecord[]> {
    return Promise.resolve(this.#all(this.#index.unfinished(caller).slice(0, limit)));
  }

  duePushes(query: DuePushQuery): Promise<readonly DuePush[]> {
    return Promise.resolve(this.#claims.take(query));
  }

  giveBackPush(taskId: TaskId, configId: string): void {
    this.#claims.giveBack(taskId, configId);
  }

  nextPushAt(now: TimeMs): Promise<TimeMs | undefined> {
    return Promise.resolve(this.#claims.nextAt(now));
  }

  webhooks(caller: CallerName): number {
    return this.#index.webhooks(caller);
  }

  withWebhooks(caller: CallerName): Promise<readonly TaskId[]> {
    return Promise.resolve(this.#index.withWebhooks(caller));
  }

  callers(): Promise<readonly CallerName[]> {
    return Promise.resolve(this.#index.callers);
  }

  /** How many follow a task now. */
  get followers(): number {
    return this.#feed.followers;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#feed.close());
  }

  async #before(next: TaskRecord, { bringsContent }: { readonly bringsContent: boolean }): Promise<void> {
    storableText(next, { bringsContent }); // throws when it is too long
    try {
      await this.#beforeCommit(next);
    } catch (error) {
      throw new StorageFull("Cannot store a task: no room is left", { cause: error });
    }
  }

  #forget(id: TaskId): TaskRecord {
    const record = this.#records.get(id)!;
    this.#claims.committed(record, undefined);
    this.#records.delete(id);
    this.#blobs.delete(id);
    this.#index.remove(id);
    this.#feed.removed(id);
    return record;
  }

  #all(ids: readonly TaskId[]): readonly TaskRecord[] {
    return ids.map((id) => this.#records.get(id)!);
  }
}
