import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { filesBelow } from "@tests/fakes/download_setting.ts";
import type { HeldCommit } from "@tests/fakes/commit_gate.ts";
import {
  alice,
  bob,
  makeRuns,
  type RunDoors,
  type RunFixture,
  type RunHost,
} from "@tests/fakes/run_service_fixture.ts";
import type { PlayedTurn } from "@tests/fakes/scripted_sessions.ts";
import { createSeededRandom, type SeededRandom } from "@tests/fakes/seeded_random.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import { isTerminal } from "@/protocol/task.ts";
import { parseTime } from "@/time/clock.ts";

const rounds = 12;
const steps = 150;
const contexts = ["c1", "c2", "c3"];
const urls = ["https://files.example/there", "https://files.example/held", "https://files.example/missing"] as const;

for (const suspends of [false, true]) {
  for (let seed = 1; seed <= rounds; seed++) {
    const name = `two hosts keep what they promise in any order${suspends ? ", one suspended now and then" : ""}`;
    Deno.test(`${name} (seed ${seed})`, async () => {
      await using made = await makeRuns({ limits: { runsMax: 2, queuedMax: 4, runMs: 60_000 } });
      const trial = new Trial(made, createSeededRandom(seed), suspends);
      for (let step = 0; step < steps; step++) await trial.step();
      await trial.finish();
    });
  }
}

/** One message that was sent, and what became of it. */
interface Message {
  readonly text: string;
  readonly caller: CallerName;
  answer?: { readonly kind: "accepted"; readonly id: TaskId } | { readonly kind: "refused"; readonly why: string };
}

class Trial {
  readonly #made: RunFixture;
  readonly #random: SeededRandom;
  readonly #hosts: readonly (RunHost & RunDoors)[];
  readonly #messages: Message[] = [];
  readonly #pending = new Set<Promise<unknown>>();
  readonly #failures: unknown[] = [];
  readonly #held: HeldCommit[] = [];
  readonly #suspends: boolean;

  /** Until then the second host may work on what the first was given meanwhile. */
  #suspectUntil = 0;
  /** Lets go the downloads that are held. */
  #letGo = () => {};

  constructor(made: RunFixture, random: SeededRandom, suspends: boolean) {
    this.#made = made;
    this.#random = random;
    this.#hosts = [made, made.newHost()];
    this.#suspends = suspends;
    made.outbound.answer(urls[0], { body: ["a file"] });
    made.outbound.answer(urls[2], { status: 404 });
    this.#holdDownloads();
  }

  async step(): Promise<void> {
    await this.#random.weighted<() => unknown>([
      [6, () => this.#sendNew()],
      [4, () => this.#answer()],
      [3, () => this.#cancel()],
      [10, () => this.#play()],
      [2, () => void this.#held.push(this.#made.gate.hold())],
      [4, () => this.#held.shift()?.release()],
      [1, () => this.#made.gate.isFull = !this.#made.gate.isFull && this.#random.chance(0.3)],
      [2, () => this.#holdDownloads()],
      [3, () => this.#made.clock.settle()],
      [3, () => this.#made.clock.advance(this.#random.below(7_000))],
      [1, () => this.#own(this.#host.runs.sweep())],
      [this.#suspends ? 2 : 0, () => this.#suspend()],
    ])();
    for (let count = this.#random.below(8); count > 0; count--) await Promise.resolve();
    this.#oneTurnAContext();
  }

  /** Lets everything come to its end, and looks at what is left. */
  async finish(): Promise<void> {
    this.#made.gate.isFull = false;
    this.#hosts[1]!.view.unblock();
    this.#letGo();
    for (let round = 0; round < 150; round++) {
      for (const held of this.#held.splice(0)) held.release();
      for (const turn of this.#openTurns()) turn.answer("the end");
      await this.#made.clock.advance(1_000);
      this.#oneTurnAContext();
    }
    await Promise.all(this.#pending);
    deepStrictEqual(this.#failures, []);
    const ran = this.#turns().map(({ request }) => request.text.split("\n")[0]!);
    deepStrictEqual(ran, [...new Set(ran)], "a message ran twice");
    for (const message of this.#messages) await this.#check(message, ran);
    for (const host of this.#hosts) await this.#isFree(host);
    strictEqual(this.#made.outbound.open, 0);
    const received = Object.keys(await filesBelow(this.#made.paths.root));
    ok(received.every((path) => !path.endsWith(".tmp")), received.join());
  }

  /** Lets go what is held, and holds what comes. */
  #holdDownloads(): void {
    this.#letGo();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#letGo = resolve;
    this.#made.outbound.answer(urls[1], { body: ["a ", promise, "file"] });
  }

  async #check({ text, caller, answer }: Message, ran: readonly string[]): Promise<void> {
    ok(answer !== undefined, `${text} was never answered`);
    if (answer.kind === "refused") {
      ok(!ran.includes(text), `${text} was refused (${answer.why}) and ran`);
      return;
    }
    const { task, run } = await this.#made.record(answer.id, caller);
    strictEqual(run, null, `the task of ${text} still runs`);
    const inHistory = task.history!.filter(({ parts }) => parts[0]?.text === text);
    strictEqual(inHistory.length, 1, `${text} is ${inHistory.length} times in the history`);
    const isDone = task.status.state === "TASK_STATE_COMPLETED";
    if (isDone || !isTerminal(task.status.state)) ok(ran.includes(text), `${text} did not run and its task is settled`);
  }

  async #isFree(host: RunHost & RunDoors): Promise<void> {
    for (const contextId of contexts) {
      using accepted = await host.send(`last ${contextId} ${this.#messages.length++}`, { contextId });
      await this.#made.clock.settle();
      host.sessions.turns.at(-1)!.answer("free");
      strictEqual((await accepted.settled()).status.state, "TASK_STATE_COMPLETED");
      await this.#made.clock.settle();
    }
  }

  /** The second host is suspended, or goes on: with or without its leases, as it comes. */
  async #suspend(): Promise<void> {
    const { view } = this.#hosts[1]!;
    if (view.isBlocked) view.unblock();
    else view.block();
    if (this.#random.chance(0.5)) await this.#made.clock.advance(this.#random.below(90_000));
    this.#suspectUntil = this.#made.clock.elapsed() + 30_000;
  }

  get #host(): RunHost & RunDoors {
    return this.#random.pick(this.#hosts);
  }

  #sendNew(): void {
    this.#send({ contextId: this.#random.pick(contexts), caller: this.#random.pick([alice, bob]) });
  }

  #send(sent: { caller: CallerName; contextId?: string; taskId?: TaskId }): void {
    const message: Message = { text: `m${this.#messages.length}`, caller: sent.caller };
    const url = this.#random.chance(0.3) ? [{ url: this.#random.pick(urls) }] : [];
    this.#messages.push(message);
    this.#own((async () => {
      const host = this.#host;
      const answer = await host.submit(message.text, { ...sent, parts: [{ text: message.text }, ...url] });
      if (answer.kind === "refused") return void (message.answer = { kind: "refused", why: answer.why });
      const { id } = answer.task;
      message.answer = { kind: "accepted", id };
      answer[Symbol.dispose]();
      if (this.#random.chance(0.5)) this.#own(this.#follow(id, sent.caller));
    })());
  }

  /** Who follows sees each status once, in order, and never one that cannot be read. */
  async #follow(id: TaskId, caller: CallerName): Promise<void> {
    const followed = await this.#host.runs.follow(id, caller, new AbortController().signal);
    if (followed.kind === "refused") return;
    let last = 0;
    for await (const event of followed.events) {
      const status = "task" in event
        ? event.task.status
        : "statusUpdate" in event
        ? event.statusUpdate.status
        : undefined;
      if (status === undefined) continue;
      const at = parseTime(status.timestamp);
      ok(at > last, "a status came twice, or too late");
      last = at;
      ok(parseTime((await this.#made.record(id, caller)).task.status.timestamp) >= at, "seen before it was stored");
      if (status.state === "TASK_STATE_INPUT_REQUIRED") break;
    }
  }

  #answer(): void {
    const accepted = this.#messages.filter(({ answer }) => answer?.kind === "accepted");
    if (accepted.length === 0) return;
    const { caller, answer } = this.#random.pick(accepted);
    if (answer?.kind === "accepted") this.#send({ caller, taskId: answer.id });
  }

  #cancel(): void {
    const accepted = this.#messages.filter(({ answer }) => answer?.kind === "accepted");
    if (accepted.length === 0) return;
    const { caller, answer } = this.#random.pick(accepted);
    if (answer?.kind === "accepted") this.#own(this.#host.runs.cancel(answer.id, caller));
  }

  #play(): void {
    const turns = this.#openTurns();
    if (turns.length === 0) return;
    const turn = this.#random.pick(turns);
    this.#random.weighted<() => void>([
      [3, () => turn.say("words ")],
      [4, () => turn.answer("done")],
      [4, () => turn.ask("Which?")],
      [1, () => turn.end({ kind: "failed", message: "no" })],
      [1, () => turn.break(new Error("bug"))],
      [1, () => turn.ignoreAbort()],
    ])();
  }

  /** A context of a caller is worked in by one turn at most, in all hosts together. */
  #oneTurnAContext(): void {
    const isSuspect = this.#hosts[1]!.view.isBlocked || this.#made.clock.elapsed() < this.#suspectUntil;
    const scopes = (isSuspect ? this.#hosts[0]!.sessions.turns.filter(({ isOver }) => !isOver) : this.#openTurns()).map(
      ({ request }) => request.scope,
    );
    deepStrictEqual(scopes, [...new Set(scopes)], "two turns in one context");
  }

  #openTurns(): PlayedTurn[] {
    return this.#turns().filter(({ isOver }) => !isOver);
  }

  #turns(): PlayedTurn[] {
    return this.#hosts.flatMap(({ sessions }) => sessions.turns);
  }

  #own(work: Promise<unknown>): void {
    this.#pending.add(work);
    work.catch((error) => this.#failures.push(error)).finally(() => this.#pending.delete(work));
  }
}
