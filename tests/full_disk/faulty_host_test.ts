import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { type Host, openHost } from "@/workspace_host.ts";
import { readConfig } from "@/config.ts";
import { Counters } from "@/counters.ts";
import { createFauxEngine } from "@/engine/faux_engine.ts";
import { Outbound } from "@/outbound/outbound.ts";
import type { TaskId } from "@/protocol/ids.ts";
import { isSettled, isTerminal, type MessageJson, type StatusJson } from "@/protocol/task.ts";
import { systemRandom } from "@/random.ts";
import type { Accepted } from "@/server/runs/submission.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { createFaultyDisk, type FaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { createSeededRandom, type SeededRandom } from "@tests/fakes/seeded_random.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock, type TestClock } from "@tests/fakes/test_clock.ts";
import { ann, mustSend, readWhole, send, Witness } from "@tests/full_disk/disk_host.ts";
import { armFaults } from "@tests/full_disk/random_faults.ts";

const tasks = 120;
/** Each lets those run that were queued behind what hangs. */
const roundsMax = 5;
const seed = Number(Deno.env.get("A2A_TEST_SEED") ?? Math.floor(Math.random() * 2 ** 32));

const texts: readonly (readonly [weight: number, text: string])[] = [
  [4, "Hello"],
  [2, "stream: 40"],
  [2, "wait: 300ms\nThere you are"],
  [3, "ask: Which?"],
  [2, "file: made.bin 40000 bytes\nHere it is"],
  [1, "stream: 1000 x 300"],
  [1, "fail: no"],
  [1, "Half of it\nhang"],
];

Deno.test({
  name:
    "a host whose disk fails at random shows nothing unsaved, keeps what it accepted, and ends all of it once the " +
    "disk works [§5.5 disk-full-retried, §5.5 disk-full-refused, §5.5 durable-before-seen]",
  async fn() {
    await using temp = await makeTempFolder();
    try {
      await tryHost(temp.path, createSeededRandom(seed));
    } catch (error) {
      throw new Error(`Failed with A2A_TEST_SEED=${seed}`, { cause: error });
    }
  },
});

async function tryHost(workspace: string, random: SeededRandom): Promise<void> {
  const clock = createTestClock();
  const disk = createFaultyDisk(createDisk(systemClock), clock);
  const host = await open(workspace, disk, clock);
  const trial = new HostTrial({ host, disk, clock, random, witness: new Witness(workspace) });
  await trial.work();
  await trial.finish();
  await close(host, clock);
  const { witness } = trial;
  witness.compare(await readWhole(workspace, { isClosed: false }));
  const again = await open(workspace, createFaultyDisk(createDisk(systemClock), clock), clock);
  await again.runs.sweep();
  deepStrictEqual(await again.store.unfinished(ann, Infinity), []);
  strictEqual((await witness.follow(await mustSend(again, "Hello"))).state, "TASK_STATE_COMPLETED");
  await close(again, clock);
  witness.compare(await readWhole(workspace, { isClosed: true }));
}

/** A host under fire, with callers that answer, cancel, and note what was refused. */
class HostTrial {
  readonly #parts: TrialParts;
  readonly #following: Promise<void>[] = [];
  readonly #failures: unknown[] = [];
  readonly #open = new Map<TaskId, StatusJson>();
  readonly #refused = new Set<string>();

  constructor(parts: TrialParts) {
    this.#parts = parts;
  }

  get witness(): Witness {
    return this.#parts.witness;
  }

  async work(): Promise<void> {
    const { clock, disk, random } = this.#parts;
    for (let number = 0; number < tasks; number++) {
      const faults = armFaults(disk, random);
      await Promise.all([this.#send(number), this.#disturb(), clock.advance(random.below(150))]);
      faults.end();
      if (random.chance(0.2)) await clock.advance(1_000);
    }
  }

  /** The disk works again: all that was accepted ends, nothing that was refused is there. */
  async finish(): Promise<void> {
    const { host, clock } = this.#parts;
    await clock.advance(60_000);
    for (let rounds = 0; rounds < roundsMax; rounds++) {
      for (const { task } of await host.store.unfinished(ann, Infinity)) {
        const hangs = task.history!.at(-1)!.parts.some(({ text }) => text?.endsWith("hang"));
        if (hangs || task.status.state === "TASK_STATE_INPUT_REQUIRED") await host.runs.cancel(task.id, ann);
      }
      await clock.advance(10_000);
    }
    deepStrictEqual((await host.store.unfinished(ann, Infinity)).map(({ task }) => task), []);
    await Promise.all(this.#following);
    deepStrictEqual(this.#failures, []);
    for (const [id, { state }] of this.#open) ok(isSettled(state), `${id} was last shown ${state}`);
    for (const { task } of await allTasks(host)) {
      for (const { messageId } of task.history!) ok(!this.#refused.has(messageId), `${messageId} was refused`);
      ok(isTerminal(task.status.state));
    }
    ok(this.#refused.size > 5, `only ${this.#refused.size} were refused`);
  }

  async #send(number: number): Promise<void> {
    const { random } = this.#parts;
    const messageId = `m${number}`;
    const file = { raw: new Uint8Array(10_000).toBase64(), filename: "a.bin" };
    const parts = [{ text: random.weighted(texts) }, ...random.chance(0.1) ? [file] : []];
    await this.#submit("", { messageId, parts, contextId: `c${random.below(12)}` });
  }

  /** Answers or cancels something that is open. */
  async #disturb(): Promise<void> {
    const { host, random } = this.#parts;
    const [id, status] = random.pick([...this.#open]) ?? [];
    if (id === undefined || status === undefined || isTerminal(status.state)) return;
    if (status.state !== "TASK_STATE_INPUT_REQUIRED") return void (await host.runs.cancel(id, ann));
    await this.#submit("Blue", { messageId: `answer-${systemRandom.uuid()}`, taskId: id });
  }

  /** A file that cannot be received for another reason than room is an error, and as good as a refusal. */
  async #submit(text: string, message: Partial<MessageJson> & { readonly messageId: string }): Promise<void> {
    const answer = await send(this.#parts.host, text, message).catch((error) => {
      if (error.code !== "EIO") throw error;
    });
    if (answer?.kind === "accepted") this.#follow(answer);
    else this.#refused.add(message.messageId);
  }

  #follow(accepted: Accepted): void {
    const { id } = accepted.task;
    this.#open.set(id, accepted.task.status);
    const followed = this.witness.follow(accepted).then(
      (status) => void this.#open.set(id, status),
      (failure) => void this.#failures.push(failure),
    );
    this.#following.push(followed);
  }
}

interface TrialParts {
  readonly host: Host;
  readonly disk: FaultyDisk;
  readonly clock: TestClock;
  readonly random: SeededRandom;
  readonly witness: Witness;
}

async function open(workspace: string, disk: FaultyDisk, clock: TestClock): Promise<Host> {
  const read = readConfig({ flags: { "min-free-bytes": "0", "concurrent-runs": "4", "turns-per-context": "0" } });
  if (read.kind === "problems") throw new Error(read.problems.join("\n"));
  const engine = createFauxEngine({ clock });
  const given = { workspace, config: read.config, random: systemRandom, pid: Deno.pid, counters: new Counters() };
  const host = await openHost({ ...given, engine, disk, clock, outbound: new Outbound({ clock }) });
  if (host.kind === "refused") throw new Error(host.message);
  return host;
}

async function close(host: Host, clock: TestClock): Promise<void> {
  const closing = host[Symbol.asyncDispose]();
  await clock.advance(10_000);
  await closing;
}

async function allTasks(host: Host) {
  const tasks = [];
  let pageToken = "";
  do {
    const page = await host.store.list({ caller: ann, pageSize: 100, pageToken });
    if (page.kind !== "page") throw new Error("The page token was refused");
    tasks.push(...page.tasks);
    pageToken = page.next;
  } while (pageToken !== "");
  return tasks;
}
