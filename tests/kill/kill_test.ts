import { deepStrictEqual, ok } from "node:assert/strict";
import { Acknowledged } from "@tests/kill/acknowledged.ts";
import type { ChildJob, ChildLine } from "@tests/kill/child_line.ts";
import { type Child, prepareChildren, startChild } from "@tests/kill/start_child.ts";
import { readStored } from "@tests/kill/stored_workspace.ts";
import { StoredTranscripts } from "@tests/kill/stored_transcripts.ts";
import { systemClock } from "@/time/clock.ts";
import { createSeededRandom, type SeededRandom } from "@tests/fakes/seeded_random.ts";

const rounds = Number(Deno.env.get("A2A_TEST_ROUNDS") ?? 15);
const seed = Number(Deno.env.get("A2A_TEST_SEED") ?? Math.floor(Math.random() * 2 ** 32));
const keepMs = 8_000;
/** A round that takes longer hangs. */
const roundMsMax = 120_000;
/** What a round waits for may never come, as when the long answer is canceled. */
const loadMsMax = 2_000;
const roundsPerContexts = 10;
/** Why a task of this load may fail. */
const failures = ["no", "server restarted", "no usable reply was produced"];

/** How a round ends: killed so long after a line, or told to drain, or by itself. */
type Plan =
  | {
    readonly kind: "kill";
    readonly after: "begin" | "created" | "saving" | "torn";
    readonly ms: number;
    readonly style?: ChildJob["style"];
  }
  | { readonly kind: "drain"; readonly ms: number; readonly graceMs: number; readonly killAfterMs?: number }
  | { readonly kind: "tidy" };

Deno.test({
  name:
    "a host that is killed at any instant loses nothing it acknowledged, runs no turn twice, and leaves nothing torn " +
    "[SM8 1, SM8 2, SM8 3, SM8 4, SM8 5, SM8 7, SM7 recover, DM0 tmp-removed, DM5 orphan-blobs, DM6 replay] " +
    "[DM6 torn-last-line, DM6 read-beside, DM7 torn-last-line, SM3 drain, SM7 stop] " +
    "[§5.5 durable-before-seen, §5.5 dedupe, §5.5 input-survives, §4 crash-frees-lock]",
  async fn() {
    await prepareChildren();
    const workspace = await Deno.realPath(await Deno.makeTempDir({ prefix: "volcanic-a2a-kill-" }));
    const trial = new KillTrial(workspace);
    try {
      for (let round = 1; round <= rounds; round++) await trial.round(round);
    } catch (error) {
      throw new Error(`Failed with A2A_TEST_SEED=${seed}; the workspace is kept: ${workspace}`, { cause: error });
    }
    console.log(trial.summary);
    await Deno.remove(workspace, { recursive: true });
  },
});

/** Hosts that are started and killed, one after the other, over one workspace. */
class KillTrial {
  readonly #workspace: string;
  readonly #random: SeededRandom = createSeededRandom(seed);
  readonly #acknowledged = new Acknowledged(keepMs);
  readonly #transcripts: StoredTranscripts;
  #killedInRecovery = 0;
  #drained = 0;
  #slowestMs = 0;

  constructor(workspace: string) {
    this.#workspace = workspace;
    this.#transcripts = new StoredTranscripts(workspace);
  }

  get summary(): string {
    const { commits } = this.#acknowledged;
    return `kill test: ${rounds} rounds, ${commits} acknowledged commits, ${this.#transcripts.turns} turns, ` +
      `${this.#killedInRecovery} kills during recovery, ${this.#transcripts.torn} torn transcripts, ` +
      `${this.#drained} drains, slowest recovery ${this.#slowestMs} ms, seed ${seed}`;
  }

  async round(round: number): Promise<void> {
    const plan = planOf(round, this.#random);
    const job: ChildJob = {
      workspace: this.#workspace,
      seed: this.#random.below(2 ** 32),
      mode: plan.kind === "tidy" ? "tidy" : "load",
      style: plan.kind === "kill" ? plan.style ?? "steady" : "steady",
      contexts: `c${Math.floor(round / roundsPerContexts)}`,
      keepMs,
      again: this.#acknowledged.takeSent().slice(-8),
    };
    this.#acknowledged.starts(Date.now());
    await using child = startChild(job);
    const { problems, isStopped } = await this.#watch(child, plan);
    const { code, isKilled, errors } = await child.ended;
    problems.push(...await this.#look(plan, isStopped));
    const told = `round ${round} of ${JSON.stringify(plan)}`;
    deepStrictEqual({ told, problems, errors }, { told, problems: [], errors: "" });
    ok(isStopped ? code === 0 : isKilled, `${told}: ended by itself with code ${code}`);
  }

  /** Takes what the child says, and ends it as planned. */
  async #watch(child: Child, plan: Plan): Promise<{ problems: string[]; isStopped: boolean }> {
    const problems: string[] = [];
    const said = new Set<ChildLine["kind"]>();
    const over = new AbortController();
    const later = async (ms: number, work: () => unknown) => {
      const isTime = await systemClock.sleep(ms, over.signal).then(() => true, () => false);
      if (isTime) await work();
    };
    void later(roundMsMax, () => {
      problems.push("it hung");
      child.kill();
    });
    for await (const line of child.lines) {
      if (!said.has(line.kind)) act(child, plan, { line, later });
      said.add(line.kind);
      problems.push(...this.#acknowledged.take(line, Date.now()));
      if (line.kind === "ready") this.#slowestMs = Math.max(this.#slowestMs, line.ms);
    }
    over.abort();
    if (!said.has("ready")) this.#killedInRecovery++;
    const isStopped = said.has("stopped");
    if (isStopped) this.#drained++;
    return { problems, isStopped };
  }

  /** Looks at the folder without a host. */
  async #look(plan: Plan, isStopped: boolean): Promise<readonly string[]> {
    const stored = await readStored(this.#workspace);
    const problems = [
      ...stored.problems,
      ...this.#acknowledged.check(stored.records, Date.now()),
      ...await this.#transcripts.read(),
    ];

    for (const record of stored.records.values()) {
      const { id, status, history } = record.task;
      if (status.state === "TASK_STATE_COMPLETED" && this.#transcripts.turnsOf(record, lastAsked(history!)) !== 1) {
        problems.push(`${id} is completed, but its transcript has no turn of it`);
      }
      const why = status.message?.parts.map(({ text }) => text).join("");
      if (status.state === "TASK_STATE_FAILED" && !failures.includes(why!)) problems.push(`${id} failed: ${why}`);
      if (isStopped && status.state === "TASK_STATE_WORKING") problems.push(`${id} works, and its host is gone`);
      if (plan.kind === "tidy" && record.run !== null) problems.push(`${id} is stuck: ${status.state}`);
    }
    if (isStopped) problems.push(...stored.journals.map((name) => `${name} was left by a host that stopped`));
    if (plan.kind === "tidy") problems.push(...stored.litter.map((path) => `${path} was left lying`));
    return problems;
  }
}

const tornStyles = ["torn journal", "torn transcript", "torn record"] as const;

/** Every kind of end in a fixed turn, every instant by chance. */
function planOf(round: number, random: SeededRandom): Plan {
  const ms = random.below(600);
  if (round === rounds || round % 25 === 0) return { kind: "tidy" };
  if (round % 7 === 2) return { kind: "kill", after: "torn", ms: random.below(20), style: tornStyles[round % 3]! };
  if (round % 7 === 4) return { kind: "kill", after: "saving", ms: random.below(40), style: "lull" };
  if (round % 7 === 3) return { kind: "kill", after: "begin", ms: random.below(40) };
  if (round % 14 === 5) return { kind: "drain", ms, graceMs: random.pick([0, 50]) };
  if (round % 14 === 12) return { kind: "drain", ms, graceMs: 20, killAfterMs: random.below(60) };
  return { kind: "kill", after: "created", ms };
}

/** Does what is planned for when a line of this kind comes for the first time. */
function act(child: Child, plan: Plan, { line, later }: {
  readonly line: ChildLine;
  readonly later: (ms: number, work: () => unknown) => Promise<void>;
}): void {
  if (plan.kind === "kill" && line.kind === plan.after) void later(plan.ms, () => child.kill());
  if (plan.kind === "kill" && line.kind === "created") void later(loadMsMax, () => child.kill());
  if (plan.kind !== "drain" || line.kind !== "created") return;
  const { ms, graceMs, killAfterMs } = plan;
  void later(ms, () => child.drain(graceMs));
  if (killAfterMs !== undefined) void later(ms + killAfterMs, () => child.kill());
}

function lastAsked(history: readonly { readonly role: string; readonly messageId: string }[]): string {
  return history.findLast(({ role }) => role === "ROLE_USER")!.messageId;
}
