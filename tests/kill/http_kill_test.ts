import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { isTerminal } from "@/protocol/task.ts";
import { systemClock } from "@/time/clock.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";
import { createSeededRandom, type SeededRandom } from "@tests/fakes/seeded_random.ts";
import { type ServeProcess, startServe } from "@tests/fakes/serve_process.ts";
import { Acknowledged } from "@tests/kill/acknowledged.ts";
import type { ChildLine } from "@tests/kill/child_line.ts";
import { callers } from "@tests/kill/child_tasks.ts";
import { HttpLoad, keyOf } from "@tests/kill/http_load.ts";
import { readStored } from "@tests/kill/stored_workspace.ts";
import { StoredTranscripts } from "@tests/kill/stored_transcripts.ts";

const rounds = Number(Deno.env.get("A2A_TEST_ROUNDS") ?? 5);
const seed = Number(Deno.env.get("A2A_TEST_SEED") ?? Math.floor(Math.random() * 2 ** 32));
const keepMs = 20_000;
/** A round that takes longer hangs. */
const roundMsMax = 60_000;
const roundsPerContexts = 5;
/** Why a task of this load may fail. */
const failures = ["no", "server restarted", "no usable reply was produced"];

Deno.test({
  name:
    "the started program that is killed at any instant keeps all that it answered over HTTP, runs nothing twice, and is not stuck " +
    "[§5.5 killed-program, §5.5 durable-before-seen, §5.5 dedupe, §5.5 input-survives, §4 crash-frees-lock, SM7 recover, SM8 3]",
  async fn() {
    const workspace = await Deno.realPath(await Deno.makeTempDir({ prefix: "volcanic-a2a-http-kill-" }));
    const { a2a, callersFile } = workspacePaths(workspace);
    await Deno.mkdir(a2a, { recursive: true });
    await Deno.writeTextFile(callersFile, JSON.stringify(callers.map((name) => ({ name, key: keyOf(name) }))));
    const trial = new HttpKillTrial(workspace);
    try {
      for (let round = 1; round <= rounds; round++) await trial.round(round);
    } catch (error) {
      throw new Error(`Failed with A2A_TEST_SEED=${seed}; the workspace is kept: ${workspace}`, { cause: error });
    }
    console.log(trial.summary);
    await Deno.remove(workspace, { recursive: true });
  },
});

/** Processes that are started and killed, one after the other, over one workspace. */
class HttpKillTrial {
  readonly #workspace: string;
  readonly #random: SeededRandom = createSeededRandom(seed);
  readonly #acknowledged = new Acknowledged(keepMs);
  readonly #transcripts: StoredTranscripts;
  #killedAtStart = 0;
  #answers = 0;
  #slowestMs = 0;

  constructor(workspace: string) {
    this.#workspace = workspace;
    this.#transcripts = new StoredTranscripts(workspace);
  }

  get summary(): string {
    return `HTTP kill test: ${rounds} rounds, ${this.#answers} answers and events, ${this.#acknowledged.commits} ` +
      `acknowledged commits, ${this.#transcripts.turns} turns, ${this.#killedAtStart} kills during the start, ` +
      `${this.#transcripts.torn} torn transcripts, slowest start ${this.#slowestMs} ms, seed ${seed}`;
  }

  /** Every tenth and the last one looks whether anything is stuck; every fifth other one is killed while it starts. */
  async round(round: number): Promise<void> {
    const isTidy = round === rounds || round % 10 === 0;
    const random = this.#random;
    const problems: string[] = [];
    const over = new AbortController();
    using deadline = systemClock.deadline(roundMsMax);
    deadline.signal.addEventListener("abort", () => {
      problems.push("it hung");
      over.abort();
    });
    const say = (line: ChildLine) => {
      this.#answers++;
      problems.push(...this.#acknowledged.take(line, Date.now()));
    };
    this.#acknowledged.starts(Date.now());
    const noRates = ["--requests-per-minute", "0", "--reads-per-minute", "0", "--turns-per-context", "0"];
    const flags = [...noRates, "--concurrent-runs", "4", "--keep-for", `${keepMs / 1000}s`, "--log-level", "error"];
    const began = systemClock.elapsed();
    await using serve = startServe(this.#workspace, ...flags);
    const again = this.#acknowledged.takeSent().slice(-8);
    const contexts = `c${Math.floor(round / roundsPerContexts)}`;
    const loadOf = (address: string) => new HttpLoad({ address, random, contexts, again, over: over.signal, say });
    if (!isTidy && round % 5 === 3) {
      await systemClock.sleep(random.below(800));
      this.#killedAtStart++;
      await this.#kill(serve);
    } else {
      const load = loadOf(await this.#started(serve));
      this.#slowestMs = Math.max(this.#slowestMs, Math.round(systemClock.elapsed() - began));
      const left = await load.list();
      problems.push(...isTidy ? await this.#tidy(serve, load, left) : await this.#loadAndKill(serve, load, left));
    }
    over.abort();
    problems.push(...await this.#look(isTidy));
    deepStrictEqual({ round, problems }, { round, problems: [] });
  }

  async #started(serve: ServeProcess): Promise<string> {
    return await serve.address;
  }

  async #loadAndKill(serve: ServeProcess, load: HttpLoad, left: Parameters<HttpLoad["work"]>[0]) {
    const working = load.work(left);
    await systemClock.sleep(50 + this.#random.below(700));
    const said = await this.#kill(serve);
    return [...await working, ...said];
  }

  /** As `kill -9`; gives what it logged. */
  async #kill(serve: ServeProcess): Promise<readonly string[]> {
    serve.kill("SIGKILL");
    const { signal, error } = await serve.ended;
    strictEqual(signal, "SIGKILL");
    return error.split("\n").filter((line) => line !== "");
  }

  async #tidy(serve: ServeProcess, load: HttpLoad, left: Parameters<HttpLoad["tidy"]>[0]): Promise<readonly string[]> {
    const problems = await load.tidy(left);
    const open = (await load.list()).filter(({ task }) => !isTerminal(task.status.state));
    serve.kill("SIGTERM");
    const { code, error } = await serve.ended;
    strictEqual(code, 0);
    return [
      ...problems,
      ...open.map(({ task }) => `${task.id} is stuck: ${task.status.state}`),
      ...error.split("\n").filter((line) => line !== ""),
    ];
  }

  /** Looks at the folder without a host. */
  async #look(isTidy: boolean): Promise<readonly string[]> {
    const stored = await readStored(this.#workspace);
    const problems = [
      ...stored.problems,
      ...this.#acknowledged.check(stored.records, Date.now()),
      ...await this.#transcripts.read(),
    ];
    for (const record of stored.records.values()) {
      const { id, status, history = [] } = record.task;
      const asked = history.findLast(({ role }) => role === "ROLE_USER");
      ok(asked !== undefined);
      if (status.state === "TASK_STATE_COMPLETED" && this.#transcripts.turnsOf(record, asked.messageId) !== 1) {
        problems.push(`${id} is completed, but its transcript has no turn of it`);
      }
      const why = status.message?.parts.map(({ text }) => text).join("");
      if (status.state === "TASK_STATE_FAILED" && !failures.includes(why!)) problems.push(`${id} failed: ${why}`);
      if (isTidy && record.run !== null) problems.push(`${id} is stuck: ${status.state}`);
    }
    if (isTidy) problems.push(...[...stored.journals, ...stored.litter].map((path) => `${path} was left lying`));
    return problems;
  }
}
