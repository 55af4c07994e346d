import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import type { Method } from "@/protocol/request_types.ts";
import { isTerminal, type TaskJson } from "@/protocol/task.ts";
import { newestStatus, type TaskRecord } from "@/server/tasks/task_record.ts";
import { systemClock } from "@/time/clock.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";
import { createSeededRandom, type SeededRandom } from "@tests/fakes/seeded_random.ts";
import { type ServeProcess, startServe } from "@tests/fakes/serve_process.ts";
import { readReply } from "@tests/fakes/wire_reply.ts";
import { wireRequest } from "@tests/fakes/wire_request.ts";
import { caFile, PushReceiver, receiverAddress } from "@tests/kill/push_receiver.ts";
import { readStored } from "@tests/kill/stored_workspace.ts";

const rounds = Number(Deno.env.get("A2A_TEST_ROUNDS") ?? 4);
const seed = Number(Deno.env.get("A2A_TEST_SEED") ?? Math.floor(Math.random() * 2 ** 32));
/** With so many rounds the last start is given the time to tell everything. */
const roundsToEnd = 20;
const endMs = 120_000;
const key = "k_ann_0123456789abcdef";
const sendsAtOnce = 4;

/** What a message makes the faux engine do. */
const texts = ["hi", "wait: 20ms\nhi", "stream: 50", "ask: Which?", "fail: no", "file: a.bin 50000 bytes\nhere"];

Deno.test({
  name:
    "webhooks of the program that is killed at any instant are told every status at least once, in order, none too soon " +
    "[§5.7 crash, §5.7 pushed-after-readable, SM6 restart, SM6 oldest-first, SM6 webhook-id]",
  ignore: Deno.build.os !== "linux", // the receiver's address
  async fn() {
    const workspace = await Deno.realPath(await Deno.makeTempDir({ prefix: "volcanic-a2a-push-kill-" }));
    const { a2a, callersFile } = workspacePaths(workspace);
    await Deno.mkdir(a2a, { recursive: true });
    await Deno.writeTextFile(callersFile, JSON.stringify([{ name: "ann", key }]));
    await using trial = new PushKillTrial(workspace);
    try {
      for (let round = 1; round <= rounds; round++) await trial.round(round);
      if (rounds >= roundsToEnd) await trial.end();
    } catch (error) {
      throw new Error(`Failed with A2A_TEST_SEED=${seed}; the workspace is kept: ${workspace}`, { cause: error });
    }
    console.log(trial.summary);
    await Deno.remove(workspace, { recursive: true });
  },
});

/** Programs that are started and killed over one workspace, and the one receiver of all their pushes. */
class PushKillTrial implements AsyncDisposable {
  readonly #workspace: string;
  readonly #random: SeededRandom = createSeededRandom(seed);
  readonly #receiver: PushReceiver;
  /** Webhooks whose setting was answered, with their tasks. */
  readonly #set = new Map<string, string>();
  #address = "";
  #webhooks = 0;

  constructor(workspace: string) {
    this.#workspace = workspace;
    this.#receiver = new PushReceiver({ random: createSeededRandom(seed), shown: (id) => this.#get(id) });
  }

  get summary(): string {
    const { pushes, repeats } = this.#receiver;
    return `push kill test: ${rounds} rounds, ${this.#set.size} webhooks, ${pushes} pushes taken, ` +
      `${repeats} of them repeats, seed ${seed}`;
  }

  async round(round: number): Promise<void> {
    await using serve = await this.#start();
    const work = Array.from({ length: sendsAtOnce }, () => this.#work().catch(() => {})); // the program is gone
    await systemClock.sleep(30 + this.#random.below(600));
    serve.kill("SIGKILL");
    strictEqual((await serve.ended).signal, "SIGKILL");
    await Promise.all(work);
    const problems = [...this.#receiver.problems, ...await this.#look()];
    deepStrictEqual({ round, problems }, { round, problems: [] });
  }

  /** Lets the program tell all that is owed, and looks whether everybody was told the end. */
  async end(): Promise<void> {
    await using serve = await this.#start();
    using deadline = systemClock.deadline(endMs);
    let left: string[];
    do {
      await systemClock.sleep(500);
      await this.#cancelQuestions();
      left = [...this.#set.keys()].filter((path) => !isOver(this.#receiver.newest(path)?.task));
    } while (left.length > 0 && !deadline.signal.aborted);
    deepStrictEqual([left, this.#receiver.problems], [[], []]);
    serve.kill("SIGTERM");
    const { code, error } = await serve.ended;
    deepStrictEqual([code, error], [0, ""]);
    const records = [...(await readStored(this.#workspace)).records.values()].filter(({ task }) => isOver(task));
    for (const { pushes, task } of records) {
      ok(pushes.every(({ state, target }) => state === "done" && target.token === undefined), task.id);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#receiver[Symbol.asyncDispose]();
  }

  async #start(): Promise<ServeProcess> {
    const serve = startServe(this.#workspace, ...[
      ...["--ca-file", fileURLToPath(caFile), "--outbound-allow", receiverAddress, "--log-level", "error"],
      ...["--concurrent-runs", "8", "--pushes-per-minute", "0", "--active-webhooks", "0"],
      ...["--requests-per-minute", "0", "--reads-per-minute", "0", "--turns-per-context", "0"],
    ]);
    this.#address = await serve.address;
    return serve;
  }

  async #work(): Promise<void> {
    while (true) {
      const path = this.#newWebhook();
      const sent = await this.#call("SendMessage", {
        message: message(this.#random.pick(texts)),
        configuration: { taskPushNotificationConfig: this.#config(path), returnImmediately: this.#random.chance(0.7) },
      }) as { task: TaskJson };
      const { id } = sent.task;
      this.#set.set(path, id);
      const later = this.#newWebhook();
      await this.#call("CreateTaskPushNotificationConfig", { taskId: id, ...this.#config(later) });
      this.#set.set(later, id);
      const task = await this.#get(id);
      if (task?.status.state !== "TASK_STATE_INPUT_REQUIRED") continue;
      await this.#call("SendMessage", { message: { ...message("blue"), taskId: id } });
    }
  }

  /** What is stored is what was told, or is still owed. */
  async #look(): Promise<readonly string[]> {
    const { records, problems } = await readStored(this.#workspace);
    return [
      ...problems,
      ...[...this.#set].flatMap(([path, id]) => this.#lookAt(path, records.get(id as TaskJson["id"]))),
    ];
  }

  #lookAt(path: string, record: TaskRecord | undefined): readonly string[] {
    const push = record?.pushes.find(({ target }) => target.id === path);
    if (record === undefined || push === undefined) return [`${path} was set, and is not stored`];
    const told = this.#receiver.newest(path); // of one that was set late the first statuses count as taken
    if (told !== undefined && told.seq < push.acked) return [`${path} took ${push.acked}, and was told ${told.seq}`];
    if (push.state === "done") return isOver(told?.task) ? [] : [`${path} was not told the end`];
    const owed = record.statusLog.filter(({ seq }) => seq > push.acked).map(({ seq }) => seq);
    const all = newestStatus(record).seq - push.acked;
    return owed.length === all ? [] : [`${path} is owed ${all} statuses, and ${owed} are stored`];
  }

  async #cancelQuestions(): Promise<void> {
    for (const id of new Set(this.#set.values())) {
      const task = await this.#get(id);
      if (task?.status.state === "TASK_STATE_INPUT_REQUIRED") await this.#call("CancelTask", { id });
    }
  }

  #newWebhook(): string {
    return `w${++this.#webhooks}`;
  }

  #config(path: string) {
    return { id: path, url: `${this.#receiver.url}/${path}`, token: `token-of-${path}` };
  }

  async #get(id: string): Promise<TaskJson | undefined> {
    return await this.#call("GetTask", { id }).catch(() => undefined) as TaskJson | undefined;
  }

  async #call(method: Method, params: unknown): Promise<unknown> {
    const request = wireRequest("JSONRPC", { method, params }, { key });
    const { method: verb, headers } = request;
    const reply = await readReply(
      await fetch(`${this.#address}/a2a`, { method: verb, headers, body: await request.bytes() }),
    );
    if (reply.kind !== "result") throw new Error(`${method}: ${JSON.stringify(reply)}`);
    return reply.result;
  }
}

function isOver(task: TaskJson | undefined): boolean {
  return task !== undefined && isTerminal(task.status.state);
}

function message(text: string) {
  return { role: "ROLE_USER", messageId: crypto.randomUUID(), parts: [{ text }] };
}
