import { dirname } from "node:path";
import { getLogger } from "@logtape/logtape";
import { type CallerName, isTaskId, type TaskId } from "@/protocol/ids.ts";
import type { BlobRef } from "@/protocol/task.ts";
import type { TimeMs } from "@/time/clock.ts";
import { unlessAborted } from "@/time/unless_aborted.ts";
import { sweepTemporary } from "@/workspace/atomic_write.ts";
import { fenceBase } from "@/workspace/host_file.ts";
import type { FileTaskStoreOptions, OpenedFolder } from "./file_store_options.ts";
import { BlobFiles } from "./blob_files.ts";
import { Checkpointer } from "./checkpointer.ts";
import { FreeRoom } from "./free_room.ts";
import { dedupeName } from "./index_entry.ts";
import { Journal } from "./journal.ts";
import { Leases } from "./leases.ts";
import { isForgettable, requireSuccessor } from "./lifecycle.ts";
import { PushClaims } from "./push_claims.ts";
import { scanTaskFiles, sweepBlobs } from "./index_scan.ts";
import { type FileCommit, RecordFiles } from "./record_files.ts";
import { recordText, storableText } from "./record_json.ts";
import { readJournals, replayJournals, retireJournals } from "./recovery.ts";
import { StoredRecords } from "./stored_records.ts";
import { TaskFeed } from "./task_feed.ts";
import { TaskIndex } from "./task_index.ts";
import { TaskQuota } from "./task_quota.ts";
import { Turns } from "./turns.ts";
import type { DedupeKey, Fence, Rev, TaskRecord } from "./task_record.ts";
import { IndexNotReady, StorageFull } from "./task_store.ts";
import type {
  CommitOptions,
  ContextKey,
  Created,
  CreateOptions,
  DuePush,
  DuePushQuery,
  Duplicate,
  FollowItem,
  Lease,
  ListQuery,
  Progress,
  TaskPage,
  TaskStore,
} from "./task_store.ts";

const logger = getLogger(["a2a", "server", "tasks"]);

/** Records over this size are committed by writing their own file: once, instead of to the journal and then again. */
const journaledCharsMax = 256 * 1024;
const indexWaitMs = 30_000;

/**
 * Opens the tasks of a folder: replays the journals over the task files, checkpoints them, and begins to index the rest in
 * the background. When this resolves every task can be read and committed; what needs the index waits for it.
 */
export async function openFileTaskStore(options: FileTaskStoreOptions): Promise<FileTaskStore> {
  const { disk, folder } = options;
  const isNew = disk.stampSync(folder) === undefined;
  await disk.makeFolder(folder);
  if (isNew) await disk.syncFolder(dirname(folder));
  const entries = await disk.list(folder); // once: of 100,000 names it costs a fifth of a second
  await sweepTemporary(disk, folder, { listing: entries });
  const content = await readJournals(disk, folder, entries);
  const files = new RecordFiles(options);
  const recovered = await replayJournals(files, content);
  await retireJournals(disk, content);
  const blobs = new BlobFiles({ ...options, files });
  await sweepBlobs({ entries, blobs, records: recovered.records });
  return new FileTaskStore({ ...options, files, blobs, entries, recovered, lastNumber: content.lastNumber });
}

/**
 * Tasks in files: a journal with group commit in front of one JSON file a task (data-model.md 5, 6).
 *
 * Records of tasks with a run, and those that are not in their file yet, are in memory; others are read and cached. Leases
 * are in memory: `host.lock` lets one process have the folder.
 */
export class FileTaskStore implements TaskStore {
  readonly #options: FileTaskStoreOptions & OpenedFolder;
  readonly #journal: Journal;
  readonly #checkpointer: Checkpointer;
  readonly #records: StoredRecords;
  readonly #index = new TaskIndex();
  readonly #feed = new TaskFeed();
  readonly #leases: Leases;
  readonly #claims = new PushClaims(this.#index);
  readonly #room: FreeRoom;
  readonly #quota: TaskQuota;
  /** Commits of one task take turns, so that the second sees what the first made durable. */
  readonly #taskTurns = new Turns();
  readonly #keyTurns = new Turns();
  readonly #closing = new AbortController();
  readonly #indexed: Promise<void>;
  #isIndexed = false;

  constructor(options: FileTaskStoreOptions & OpenedFolder) {
    this.#options = options;
    this.#records = new StoredRecords(options.files);
    this.#journal = new Journal(options);
    this.#room = new FreeRoom(options);
    this.#quota = new TaskQuota({
      index: this.#index,
      tasksMax: (caller) => this.#isIndexed ? options.storedTasksMax(caller) : Infinity,
    });
    this.#leases = new Leases({ clock: options.clock, firstFence: fenceBase(options.epoch) as Fence });
    this.#checkpointer = new Checkpointer({
      ...options,
      journal: this.#journal,
      target: { save: (id) => this.#records.save(id), sync: () => options.files.sync() },
    });
    for (const record of options.recovered.records) {
      this.#records.durable(record, { in: "file", chars: recordText(record).length });
      this.#index.put(record);
    }
    this.#indexed = this.#scan(options);
  }

  async create(record: TaskRecord, options: CreateOptions = {}): Promise<Created> {
    const { caller, dedupe } = record;
    if (dedupe === undefined) return await this.#insert(record, options);
    return await this.#keyTurns.take(
      dedupeName(caller, dedupe),
      async () => await this.duplicateOf(caller, dedupe) ?? await this.#insert(record, options),
    );
  }

  async hasRoom(): Promise<boolean> {
    return await this.#room.isLeft();
  }

  async duplicateOf(caller: CallerName, key: DedupeKey): Promise<Duplicate | undefined> {
    await this.#indexed;
    return this.#index.duplicateOf(caller, key, this.#options.clock.now());
  }

  async read(id: TaskId, caller: CallerName): Promise<TaskRecord | undefined> {
    const record = await this.#record(id);
    return record?.caller === caller ? record : undefined;
  }

  async commit(
    expected: Rev,
    next: TaskRecord,
    options: CommitOptions = {},
  ): Promise<"committed" | "stale" | "fenced"> {
    const { id } = next.task;
    return await this.#taskTurns.take(id, async () => {
      const record = await this.#record(id);
      if (record?.rev !== expected) return "stale";
      requireSuccessor(record, next);
      const key = { caller: next.caller, contextId: next.task.contextId };
      if (options.as !== undefined && !this.#leases.holds(key, options.as)) return "fenced";
      const onDurable = () => {
        this.#claims.committed(record, next);
        if (options.release !== undefined) this.#leases.release(options.release);
        options.onDurable?.();
        this.#feed.publish(next);
      };
      await this.#write(next, { bringsContent: false, ...options, before: record, onDurable });
      return "committed";
    });
  }

  async list(query: ListQuery): Promise<TaskPage | { readonly kind: "bad page token" }> {
    await this.#indexReady();
    const page = this.#index.list(query);
    if (page.kind !== "page") return page;
    const { next, total, ids } = page;
    const tasks = await Promise.all(ids.map((id) => this.#record(id)));
    return { kind: "page", tasks: tasks.filter((record) => record !== undefined), next, total };
  }

  async remove(id: TaskId, expected: Rev): Promise<"removed" | "stale"> {
    return await this.#taskTurns.take(id, async () => {
      const record = await this.#record(id);
      if (record?.rev !== expected || !isForgettable(record)) return "stale";
      const onDurable = () => {
        this.#records.forget(id);
        this.#index.remove(id);
        this.#claims.committed(record, undefined);
        this.#feed.removed(id);
      };
      await this.#journal.append(id, JSON.stringify({ removed: id, rev: expected + 1 }), { onDurable });
      this.#checkpointer.committed();
      return "removed";
    });
  }

  putBlob(taskId: TaskId, bytes: ReadableStream<Uint8Array>, bytesMax: number): Promise<BlobRef | "too large"> {
    return this.#options.blobs.put(taskId, bytes, bytesMax);
  }

  openBlob(taskId: TaskId, ref: BlobRef): Promise<ReadableStream<Uint8Array>> {
    return this.#options.blobs.open(taskId, ref);
  }

  async follow(
    id: TaskId,
    caller: CallerName,
    signal: AbortSignal,
  ): Promise<AsyncIterableIterator<FollowItem> | undefined> {
    const record = await this.#record(id);
    if (record?.caller !== caller) return undefined;
    // The newest: a commit may have come between the read and here.
    return this.#feed.follow(this.#records.peek(id) ?? record, signal);
  }

  progress(note: Progress, fence: Fence): void {
    if (this.#records.peek(note.taskId)?.run?.fence === fence) this.#feed.progress(note);
    else this.#options.counters.add("progress.dropped");
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

  async abandoned(limit: number): Promise<readonly TaskRecord[]> {
    await this.#indexed;
    const records = await this.#all(this.#index.runs().map(({ id }) => id));
    return records.filter((record) => record.run !== null && !this.#leases.backs(record)).slice(0, limit);
  }

  /** Of those that are known so far: what was taken since the start need not wait for the index. */
  queued(limit: number): Promise<readonly TaskRecord[]> {
    return this.#all(this.#index.queued(limit));
  }

  async aged(state: "waiting" | "terminal", before: TimeMs, limit: number): Promise<readonly TaskRecord[]> {
    await this.#indexed;
    return await this.#all(this.#index.aged(state, before, limit));
  }

  async unfinished(caller: CallerName, limit: number): Promise<readonly TaskRecord[]> {
    await this.#indexed;
    return await this.#all(this.#index.unfinished(caller).slice(0, limit));
  }

  async duePushes(query: DuePushQuery): Promise<readonly DuePush[]> {
    if (query.taskId === undefined) await this.#indexed; // a task that was changed just now is known
    return this.#claims.take(query);
  }

  giveBackPush(taskId: TaskId, configId: string): void {
    this.#claims.giveBack(taskId, configId);
  }

  nextPushAt(now: TimeMs): Promise<TimeMs | undefined> {
    return this.#indexed.then(() => this.#claims.nextAt(now));
  }

  webhooks(caller: CallerName): number {
    return this.#index.webhooks(caller);
  }

  withWebhooks(caller: CallerName): Promise<readonly TaskId[]> {
    return this.#indexed.then(() => this.#index.withWebhooks(caller));
  }

  callers(): Promise<readonly CallerName[]> {
    return this.#indexed.then(() => this.#index.callers);
  }

  /** Tasks that are known so far, whether that is all of them, and how many follow one now. */
  get known(): { readonly tasks: number; readonly isComplete: boolean; readonly followers: number } {
    return { tasks: this.#index.size, isComplete: this.#isIndexed, followers: this.#feed.followers };
  }

  /** Resolves when every task of the folder is in the index, or the store is closed. */
  get indexed(): Promise<void> {
    return this.#indexed;
  }

  /** Moves everything into task files now. Rejects when the disk refuses; nothing is lost then. */
  async checkpoint(): Promise<void> {
    await this.#checkpointer.checkpoint();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#feed.close();
    await this.#indexed;
    await this.#taskTurns.idle();
    await this.#checkpointer[Symbol.asyncDispose]();
    await this.#journal[Symbol.asyncDispose]();
  }

  async #insert(record: TaskRecord, { onDurable, onPruned }: CreateOptions): Promise<Created> {
    if (!await this.#room.isLeft()) return { kind: "full", of: "disk" };
    try {
      using place = await this.#quota.take(record.caller, (oldest) => this.#prune(oldest, onPruned));
      if (place === undefined) return { kind: "full", of: "tasks" };
      const stored = () => {
        place[Symbol.dispose]();
        onDurable?.();
      };
      const write = { bringsContent: true, before: undefined, onDurable: stored };
      await this.#taskTurns.take(record.task.id, () => this.#write(record, write));
      return { kind: "created" };
    } catch (error) {
      if (error instanceof StorageFull) return { kind: "full", of: "disk" };
      throw error;
    }
  }

  async #prune(id: TaskId, onPruned: CreateOptions["onPruned"]): Promise<void> {
    const record = await this.#record(id);
    if (record !== undefined && await this.remove(id, record.rev) === "removed") await onPruned?.(record);
  }

  /** Makes a record durable and, in the same step, visible. */
  async #write(record: TaskRecord, { before, onDurable, ...how }: Write): Promise<void> {
    if (this.#closing.signal.aborted) throw new StorageFull("Cannot store a task: the store is closed");
    const { id } = record.task;
    const { counters, files } = this.#options;
    const text = storableText(record, how);
    const isJournaled = text.length <= journaledCharsMax && !files.isUnsure(id);
    const show = () => {
      counters.add("commits");
      this.#records.durable(record, { in: isJournaled ? "journal" : "file", chars: text.length });
      this.#index.put(record);
      onDurable();
    };
    if (isJournaled) {
      await this.#journal.append(id, `{"record":${text}}`, { onDurable: show });
      this.#checkpointer.committed();
      return;
    }
    try {
      await files.commit(record, text, { before, onDurable: show });
    } catch (error) {
      throw new StorageFull("Cannot store a task: the disk is full or refuses", { cause: error });
    }
  }

  async #record(id: TaskId): Promise<TaskRecord | undefined> {
    const inMemory = this.#records.peek(id);
    if (inMemory !== undefined) return inMemory;
    if (!isTaskId(id) || this.#isIndexed && this.#index.get(id) === undefined) return undefined;
    const record = await this.#records.get(id);
    // A file that was taken away by hand, or cannot be read: as if the task had never been.
    if (record === undefined) this.#index.remove(id);
    return record;
  }

  /** For sweeps: what cannot be read now is left out, so that it stops no other. */
  async #all(ids: readonly TaskId[]): Promise<readonly TaskRecord[]> {
    const unread = (error: unknown) => void logger.warning("Cannot read a task: {error}", { error });
    const records = await Promise.all(ids.map((id) => this.#record(id).catch(unread)));
    return records.filter((record) => record !== undefined);
  }

  async #indexReady(): Promise<void> {
    if (this.#isIndexed) return;
    using deadline = this.#options.clock.deadline(indexWaitMs);
    await unlessAborted(this.#indexed, deadline.signal);
    if (deadline.signal.aborted) throw new IndexNotReady("The tasks are still being indexed");
  }

  async #scan({ recovered, ...opened }: OpenedFolder): Promise<void> {
    this.#isIndexed = await scanTaskFiles({
      ...opened,
      isKnown: (id) => this.#index.get(id) !== undefined || recovered.removed.has(id) || this.#records.isForgotten(id),
      index: this.#index,
      signal: this.#closing.signal,
    });
    opened.blobs.sweptAll();
  }
}

interface Write extends FileCommit {
  readonly bringsContent: boolean;
}
