import type { CallerName, TaskId } from "@/protocol/ids.ts";
import { isTerminal, type TaskJson } from "@/protocol/task.ts";
import { systemClock } from "@/time/clock.ts";
import { createSeededRandom, type SeededRandom } from "@tests/fakes/seeded_random.ts";
import { bindings } from "@tests/fakes/wire_request.ts";
import type { ChildLine, Sent } from "@tests/kill/child_line.ts";
import { callers } from "@tests/kill/child_tasks.ts";
import { HttpCaller, type HttpMessage } from "@tests/kill/http_caller.ts";

/** What one round of callers does with the program at an address. */
export interface HttpLoadOptions {
  readonly address: string;
  readonly random: SeededRandom;
  /** Names the contexts, so that transcripts do not grow for ever. */
  readonly contexts: string;
  /** Messages with a dedupe key of the round before: sent again, whether or not they were answered. */
  readonly again: readonly Sent[];
  readonly over: AbortSignal;
  readonly say: (line: ChildLine) => void;
}

const workersMax = 8;
const contextsMax = 8;

/** The keys of all callers. */
export function keyOf(name: CallerName): string {
  return `k_${name}_0123456789abcdef`;
}

/** What a message makes the faux engine do, by how often it is sent. `worker` keeps files apart that are written at once. */
const recipes: readonly (readonly [weight: number, text: (worker: number) => string])[] = [
  [30, () => "Hello"],
  [12, () => "stream: 200"],
  [12, () => "wait: 30ms\nThere you are"],
  [14, () => "ask: Which?"],
  [8, (worker) => `file: made-${worker}.bin 40000 bytes\nHere it is`],
  [3, () => "stream: 2000 x 300"],
  [5, () => "fail: no"],
  [6, () => "Half of it\nhang"],
];

/** Clients that keep a program busy over both bindings until it is gone. */
export class HttpLoad {
  readonly #options: HttpLoadOptions;
  readonly #callers: readonly HttpCaller[];
  readonly #waiting: Known[] = [];

  constructor(options: HttpLoadOptions) {
    this.#options = options;
    const { address, over, say } = options;
    this.#callers = callers.map((name) => new HttpCaller({ address, name, key: keyOf(name), over, say }));
  }

  /** Lists all tasks of all callers and says so; gives them. What moves while one pass is under way is found by the next. */
  async list(): Promise<readonly Known[]> {
    const found = new Map<TaskId, Known>();
    for (const [place, caller] of this.#callers.entries()) {
      for (let known = -1; known !== found.size;) {
        known = found.size;
        for (const task of await caller.list(bindings[place % 2]!)) found.set(task.id, { caller, task });
      }
    }
    const tasks = [...found.values()].map(({ task: { id, status } }) => [id, status.state, status.timestamp] as const);
    this.#options.say({ kind: "listed", tasks });
    return [...found.values()];
  }

  /** Works until the program is gone. Resolves with what no caller may ever see. */
  async work(left: readonly Known[]): Promise<readonly string[]> {
    const { random, again } = this.#options;
    const work: Promise<unknown>[] = [];
    for (const known of left) {
      if (known.task.status.state === "TASK_STATE_INPUT_REQUIRED") this.#waiting.push(known);
      else if (!isTerminal(known.task.status.state)) work.push(known.caller.cancel("JSONRPC", known.task.id)); // it may hang
    }
    for (const sent of again) work.push(this.#sendAgain(sent));
    for (let number = 0; number < workersMax; number++) {
      work.push(this.#workOn(createSeededRandom(random.below(2 ** 32)), number));
    }
    const ends = await Promise.allSettled(work);
    return ends.flatMap((end) => end.status === "rejected" && !isGone(end.reason) ? [String(end.reason)] : []);
  }

  /** Ends what waits for an answer or hangs, and waits for the rest; gives what stays open. */
  async tidy(left: readonly Known[]): Promise<readonly string[]> {
    const ends = left.map(async ({ caller, task }) => {
      const { id, status: { state } } = task;
      if (isTerminal(state)) return [];
      const whole = await caller.get("HTTP+JSON", id);
      const hangs = whole?.history?.at(-1)?.parts.some(({ text }) => text?.endsWith("hang"));
      if (state === "TASK_STATE_INPUT_REQUIRED" || hangs) await caller.cancel("JSONRPC", id);
      else await caller.subscribe("HTTP+JSON", id);
      const last = await caller.get("JSONRPC", id);
      if (last?.status.state === "TASK_STATE_INPUT_REQUIRED") await caller.cancel("JSONRPC", id);
      else if (last !== undefined && !isTerminal(last.status.state)) return [`${id} stays ${last.status.state}`];
      return [];
    });
    return (await Promise.all(ends)).flat();
  }

  async #workOn(random: SeededRandom, number: number): Promise<void> {
    while (!this.#options.over.aborted) {
      const old = random.chance(0.3) ? this.#waiting.shift() : undefined;
      if (old !== undefined) await this.#settle(old, random);
      else await this.#begin(random, number);
    }
  }

  async #begin(random: SeededRandom, number: number): Promise<void> {
    const caller = random.pick(this.#callers);
    const text = random.weighted(recipes)(number);
    const messageId = crypto.randomUUID();
    const isDeduped = random.chance(0.1);
    if (isDeduped) this.#options.say({ kind: "sending", sent: { caller: caller.name, messageId, text } });
    const contextId = isDeduped ? undefined : `${this.#options.contexts}-${random.below(contextsMax)}`;
    const file = !isDeduped && random.chance(0.06) ? new Uint8Array(50_000).fill(7) : undefined;
    await this.#send(caller, { messageId, text, contextId, file, isDeduped }, random);
  }

  /** In one of three ways; what would hang is canceled soon. */
  async #send(caller: HttpCaller, message: HttpMessage, random: SeededRandom): Promise<void> {
    const binding = random.pick(bindings);
    const isAtOnce = message.text.endsWith("hang") || random.chance(0.2);
    if (!isAtOnce) {
      const task = await (random.chance(0.5) ? caller.stream(binding, message) : caller.send(binding, message));
      return this.#remember(caller, task);
    }
    const task = await caller.send(binding, message, true);
    if (task === undefined) return await pause(2);
    const followed = caller.subscribe(random.pick(bindings), task.id);
    followed.catch(() => {}); // told below
    if (message.text.endsWith("hang") || random.chance(0.3)) {
      await pause(random.below(20));
      await caller.cancel(random.pick(bindings), task.id);
    }
    this.#remember(caller, await followed ?? await caller.get(binding, task.id));
  }

  /** Answers the question of a task, or cancels it. */
  async #settle({ caller, task }: Known, random: SeededRandom): Promise<void> {
    const binding = random.pick(bindings);
    if (random.chance(0.2)) return void await caller.cancel(binding, task.id);
    const text = random.chance(0.15) ? "ask: And which else?" : "Blue";
    await this.#send(caller, { messageId: crypto.randomUUID(), text, taskId: task.id }, random);
  }

  async #sendAgain({ caller: name, messageId, text }: Sent): Promise<void> {
    const caller = this.#callers[callers.indexOf(name)]!;
    const task = await caller.send("HTTP+JSON", { messageId, text, isDeduped: true }, true);
    if (task !== undefined && text.endsWith("hang")) await caller.cancel("JSONRPC", task.id);
  }

  #remember(caller: HttpCaller, task: TaskJson | undefined): void {
    if (task?.status.state === "TASK_STATE_INPUT_REQUIRED") this.#waiting.push({ caller, task });
  }
}

/** A task and whose it is. */
export interface Known {
  readonly caller: HttpCaller;
  readonly task: TaskJson;
}

/** Says whether an error is the end of the connection, or of the waiting. */
function isGone(error: unknown): boolean {
  const { name, message } = error as Error;
  return name === "AbortError" ||
    name === "TypeError" && /fetch failed|error sending request|body|connection/i.test(message);
}

async function pause(ms: number): Promise<void> {
  await systemClock.sleep(ms);
}
