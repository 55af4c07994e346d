import { deepStrictEqual, ok } from "node:assert/strict";
import { join } from "node:path";
import type { TaskId } from "@/protocol/ids.ts";
import type { FileTaskStore } from "@/server/tasks/file_task_store.ts";
import { nextTask, type TaskEvent } from "@/server/tasks/lifecycle.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import { StorageFull } from "@/server/tasks/task_store.ts";
import { type FileStore, openFileStore } from "@tests/fakes/file_store.ts";
import { moment, sampleId, sampleRun, sampleTask } from "@tests/fakes/sample_tasks.ts";
import { createSeededRandom, type SeededRandom } from "@tests/fakes/seeded_random.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { armFaults } from "@tests/full_disk/random_faults.ts";

const operations = 2_000;
const liveMax = 40;
/** Over the size that is committed straight to a file. */
const largeText = "x".repeat(300_000);
const seed = Number(Deno.env.get("A2A_TEST_SEED") ?? Math.floor(Math.random() * 2 ** 32));

Deno.test({
  name: "a store whose disk fails at random stores what it says it stored, after a crash too, and nothing else " +
    "[DM6 failed-write, DM6 checkpoint, DM6 replay, DM5 blobs, §5.5 disk-full-refused]",
  async fn() {
    await using files = await openFileStore();
    const trial = new StoreTrial(files, createSeededRandom(seed));
    try {
      while (trial.done < operations) await trial.step();
      await trial.compareAll(files.store);
    } catch (error) {
      throw new Error(`Failed with A2A_TEST_SEED=${seed} after ${trial.done} operations`, { cause: error });
    }
    ok(trial.refused > operations / 20, `only ${trial.refused} operations were refused`);
  },
});

/** What a change comes to: what is stored when it works, undefined for a removal. */
interface Change {
  readonly id: TaskId;
  readonly next: TaskRecord | undefined;
  apply(store: FileTaskStore): Promise<"done" | "refused">;
}

/** A store under fire, and what it must hold. */
class StoreTrial {
  readonly #files: FileStore;
  readonly #random: SeededRandom;
  readonly #stored = new Map<TaskId, TaskRecord>();
  /** Refused while undoing failed too: either is right after a crash. `null`: a removal. */
  readonly #unsure = new Map<TaskId, (TaskRecord | null)[]>();
  #made = 0;
  done = 0;
  refused = 0;

  constructor(files: FileStore, random: SeededRandom) {
    this.#files = files;
    this.#random = random;
  }

  async step(): Promise<void> {
    const faults = armFaults(this.#files.disk, this.#random);
    await this.#random.weighted<() => Promise<void>>([
      [90, () => this.#changeSome(faults.isDouble)],
      [8, () => this.#files.store.checkpoint().catch(() => {})],
      [6, () => this.#files.clock.advance(300)],
    ])();
    faults.end();
    if (this.#random.chance(0.03)) await this.compareAll(this.#files.store);
    if (this.#random.chance(0.02)) await this.#crash();
    if (this.#random.chance(0.01)) await this.#reopen();
  }

  /** What is stored is read as it is, whatever was refused; what is not stored is not there. */
  async compareAll(store: FileTaskStore, isAfterCrash = false): Promise<void> {
    for (let n = 1; n <= this.#made; n++) {
      const id = sampleId(n);
      const found = await store.read(id, sampleTask().caller);
      const unsure = isAfterCrash ? this.#unsure.get(id) ?? [] : [];
      const right = [this.#stored.get(id) ?? null, ...unsure].map((record) => JSON.stringify(record));
      ok(right.includes(JSON.stringify(found ?? null)), `task ${n}: ${JSON.stringify(found)?.slice(0, 500)}`);
      for (const { blob } of await this.#openBlobs(store, found)) deepStrictEqual(blob, "open");
    }
  }

  /** Changes of one to four tasks at once: they share a flush, and its failure. */
  async #changeSome(isDouble: boolean): Promise<void> {
    const changes = new Map<TaskId, Change>();
    for (let count = 1 + this.#random.below(4); count > 0; count--) {
      const change = await this.#makeChange();
      if (!changes.has(change.id)) changes.set(change.id, change);
    }
    await Promise.all([...changes.values()].map(async ({ id, next, apply }) => {
      this.done++;
      if (await apply(this.#files.store) === "done") {
        this.#unsure.delete(id);
        if (next === undefined) this.#stored.delete(id);
        else this.#stored.set(id, next);
        return;
      }
      this.refused++;
      if (isDouble) this.#unsure.set(id, [...this.#unsure.get(id) ?? [], next ?? null]);
    }));
  }

  async #makeChange(): Promise<Change> {
    const random = this.#random;
    const live = [...this.#stored.values()];
    if (live.length < 3 || (live.length < liveMax && random.chance(0.3))) return this.#creation();
    const record = random.pick(live);
    const { id, status: { state } } = record.task;
    if (record.run === null && state !== "TASK_STATE_INPUT_REQUIRED") return removal(record);
    const decision = nextTask(record, await this.#event(record), moment(this.#files.clock.now()));
    if (decision.kind !== "changed") throw new Error(`No change: ${JSON.stringify(decision)}`);
    const next = decision.record;
    return { id, next, apply: (store) => outcomeOf(async () => await store.commit(record.rev, next) === "committed") };
  }

  #creation(): Change {
    const text = this.#random.chance(0.2) ? largeText : "Hello";
    const next = sampleTask({ n: ++this.#made, text, now: this.#files.clock.now() });
    return {
      id: next.task.id,
      next,
      apply: (store) =>
        outcomeOf(async () => {
          const created = await store.create(next);
          if (created.kind === "created") return true;
          deepStrictEqual(created, { kind: "full", of: "disk" });
          return false;
        }),
    };
  }

  /** Something that may happen to a task now. A file is stored first; when it cannot be, the run fails. */
  async #event({ task, run }: TaskRecord): Promise<TaskEvent> {
    const random = this.#random;
    if (run === null) {
      const message = { messageId: random.uuid(), role: "ROLE_USER", parts: [{ text: "Blue" }] } as const;
      return random.chance(0.2) ? { kind: "no answer came" } : { kind: "message", message, run: sampleRun() };
    }
    const { runId } = run;
    if (task.status.state === "TASK_STATE_SUBMITTED") {
      return random.chance(0.2) ? { kind: "cancel asked" } : { kind: "started", runId, deadline: null };
    }
    const text = random.chance(0.2) ? largeText : "Done";
    return await random.weighted<() => TaskEvent | Promise<TaskEvent>>([
      [4, () => ({ kind: "answered", runId, text, truncated: false, files: 0 })],
      [3, () => ({ kind: "asked", runId, question: "Which?", text })],
      [2, () => this.#fileSent(task.id, runId)],
      [1, () => ({ kind: "host lost" })],
    ])();
  }

  async #fileSent(id: TaskId, runId: NonNullable<TaskRecord["run"]>["runId"]): Promise<TaskEvent> {
    try {
      const bytes = new Blob([this.#random.hex(20)]).stream();
      const raw = await this.#files.store.putBlob(id, bytes, 1_000);
      if (raw === "too large") throw new Error("40 bytes are too large");
      return { kind: "file sent", runId, artifact: { artifactId: this.#random.uuid(), parts: [{ raw }] } };
    } catch {
      return { kind: "failed", runId, message: "The file cannot be stored" };
    }
  }

  async #openBlobs(store: FileTaskStore, record: TaskRecord | undefined) {
    const parts = record?.task.artifacts?.flatMap(({ parts }) => parts) ?? [];
    return await Promise.all(
      parts.flatMap(({ raw }) => typeof raw === "object" ? [raw] : []).map(async (ref) => {
        const bytes = await new Response(await store.openBlob(record!.task.id, ref)).bytes();
        return { blob: bytes.length === ref.bytes ? "open" : `cut: ${bytes.length} of ${ref.bytes} bytes` };
      }),
    );
  }

  /** Opens the folder as it is now, as a start after `kill -9` would. */
  async #crash(): Promise<void> {
    await using copy = await makeTempFolder();
    const folder = join(copy.path, "tasks");
    const { success } = await new Deno.Command("cp", { args: ["-r", this.#files.folder, folder] }).output();
    ok(success);
    await using store = await this.#files.openCopy(folder);
    await store.indexed;
    await this.compareAll(store, true);
    await requireTidy(folder);
  }

  /** Closes and opens it, at first perhaps on a disk that fails: then the second start finds what the first left. */
  async #reopen(): Promise<void> {
    const faults = armFaults(this.#files.disk, this.#random);
    await this.#files.reopen().catch(() => {});
    faults.end();
    const store = await this.#files.reopen();
    await store.indexed;
    await this.compareAll(store, true);
    await requireTidy(this.#files.folder);
    for (const id of this.#unsure.keys()) {
      const found = await store.read(id, sampleTask().caller);
      if (found === undefined) this.#stored.delete(id);
      else this.#stored.set(id, found);
    }
    this.#unsure.clear();
  }
}

function removal(record: TaskRecord): Change {
  const { id } = record.task;
  return {
    id,
    next: undefined,
    apply: (store) => outcomeOf(async () => await store.remove(id, record.rev) === "removed"),
  };
}

/** A refusal is `StorageFull`, or said; anything else is a bug. */
async function outcomeOf(change: () => Promise<boolean>): Promise<"done" | "refused"> {
  try {
    return await change() ? "done" : "refused";
  } catch (error) {
    if (error instanceof StorageFull) return "refused";
    throw error;
  }
}

/** After a start there is nothing left of what failed. */
async function requireTidy(folder: string): Promise<void> {
  for await (const { name } of Deno.readDir(folder)) {
    ok(!name.endsWith(".tmp") && !name.endsWith(".bad") && !name.startsWith("journal-"), `${name} was left`);
    if (!name.endsWith(".blobs")) continue;
    for await (const blob of Deno.readDir(join(folder, name))) ok(!blob.name.endsWith(".tmp"), `${blob.name} was left`);
  }
}
