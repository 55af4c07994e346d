import type { Dialect } from "@tests/fakes/model_dialects.ts";
import { type ModelScript, type ModelServer, startModelServer } from "@tests/fakes/model_server.ts";
import { createTestClock, type TestClock } from "@tests/fakes/test_clock.ts";
import type {
  Engine,
  EngineEvent,
  EngineSession,
  PastTurn,
  Prompt,
  SessionOptions,
  SessionTools,
  TurnOutcome,
} from "@/engine/engine.ts";
import { createLlmEngine } from "@/engine/llm/llm_engine.ts";
import { modelOpener, type ModelOptions } from "@/engine/llm/models.ts";
import type { SessionPrograms } from "@/engine/programs.ts";
import type { ModelProvider } from "@/model_reference.ts";
import type { Clock } from "@/time/clock.ts";
import { createModelDoor } from "@/outbound/model_door.ts";
import { Secret } from "@/workspace/secret.ts";

/** The provider whose API has a dialect. */
export const providerOf: Readonly<Record<Dialect, ModelProvider>> = {
  chat: "openai-compatible",
  anthropic: "anthropic",
  gemini: "google",
  responses: "openai",
};

/** The key that the engine is given; it must be seen nowhere but in a header of a request. */
export const modelKey = "sk-the-models-key-0123456789abcdef";

/** One turn, as it was played. */
export interface PlayedTurn {
  readonly events: readonly EngineEvent[];
  readonly outcome: TurnOutcome | undefined;
  /** What was shown at the end: text since the last `message`. */
  readonly shown: string;
}

/** What a test makes of the engine's surroundings. */
export interface LlmSettingOptions {
  readonly dialect?: Dialect;
  readonly clock?: TestClock;
  readonly tools?: SessionTools;
  readonly programs?: SessionPrograms;
  readonly turns?: readonly PastTurn[];
  readonly model?: Partial<ModelOptions>;
  readonly stepsMax?: number;
}

/** The real engine with the real SDK, over a scripted server, and a conversation in memory. */
export interface LlmSetting extends AsyncDisposable {
  readonly server: ModelServer;
  /** Moves the silences; the pauses between two tries take no time. */
  readonly clock: TestClock;
  /** The pauses that were made. */
  readonly slept: readonly number[];
  /** The turns that ended, as a transcript would give them. */
  readonly turns: readonly PastTurn[];
  readonly summary: string | undefined;
  /** Entries of the running turn. */
  readonly noted: readonly unknown[];
  readonly session: EngineSession;
  /** Plays a turn to its end. */
  say(text: string, more?: Partial<Prompt> & { readonly signal?: AbortSignal }): Promise<PlayedTurn>;
  /** Resolves when a turn shows a text from now on. */
  saw(text: string): Promise<void>;
  /** Closes the session and opens it again, as after a restart; a turn that ran is closed as failed. */
  reopen(): Promise<void>;
}

/** How long a model may be silent here. */
export const silenceMs = 300_000;

/** A clock whose shorter waits are over at once. */
function pausesAtOnce(clock: TestClock, slept: number[]): Clock {
  return {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    deadline: (ms) => clock.deadline(ms),
    async sleep(ms, signal) {
      if (ms === silenceMs) return await clock.sleep(ms, signal);
      signal?.throwIfAborted();
      slept.push(ms);
    },
  };
}

/** The engine with the real SDK over a scripted server, for a whole peer. */
export function llmEngineOver(
  server: ModelServer,
  { clock, dialect = "chat", programs }: { clock: Clock; dialect?: Dialect; programs?: SessionPrograms },
): Engine {
  const openModel = modelOpener({
    reference: { provider: providerOf[dialect], id: "test-model" },
    baseUrl: new URL(`${server.address}/v1`),
    findKey: () => Promise.resolve({ kind: "key", key: new Secret(modelKey) }),
    door: createModelDoor(),
  });
  const engine = createLlmEngine({ clock, silenceMs, openModel });
  if (programs === undefined) return engine;
  return { ...engine, open: (options) => engine.open({ ...options, programs }) };
}

/** Opens a session of the engine over a server that plays `script`. */
export async function openLlm(script: ModelScript, options: LlmSettingOptions = {}): Promise<LlmSetting> {
  const { dialect = "chat", clock = createTestClock(), programs, stepsMax } = options;
  const slept: number[] = [];
  const watchers: { readonly text: string; readonly resolve: () => void }[] = [];
  const onShown = (shown: string) => {
    for (const { text, resolve } of watchers) if (shown.includes(text)) resolve();
  };
  const server = startModelServer(script);
  const door = createModelDoor();
  const engine = createLlmEngine({
    ...{ clock: pausesAtOnce(clock, slept), stepsMax, silenceMs },
    openModel: modelOpener({
      reference: { provider: providerOf[dialect], id: "test-model" },
      baseUrl: new URL(`${server.address}/v1`),
      findKey: () => Promise.resolve({ kind: "key", key: new Secret(modelKey) }),
      door,
      ...options.model,
    }),
  });
  const talk = new Talk(options.turns ?? []);
  const sessionOptions: SessionOptions = { scope: "ws-a2a-bob_1", trust: "isolated", conversation: talk, programs };
  let session = await engine.open(sessionOptions);
  return {
    ...{ server, clock, slept, turns: talk.turns },
    get summary() {
      return talk.summary;
    },
    get noted() {
      return talk.noted;
    },
    get session() {
      return session;
    },
    async say(text, { signal = new AbortController().signal, ...more } = {}) {
      const prompt = promptOf(text, { tools: options.tools ?? {}, ...more });
      talk.begin(prompt);
      const played = await play(session.turn(prompt, signal), onShown);
      if (talk.isRunning(prompt)) talk.end(played.outcome);
      return played;
    },
    saw: (text) => new Promise((resolve) => void watchers.push({ text, resolve })),
    async reopen() {
      talk.end({ kind: "failed", message: "server restarted" });
      session.kill();
      session = await engine.open(sessionOptions);
    },
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      door[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A prompt of a caller, framed in a way that can be told from its text. */
export function promptOf(text: string, more: Partial<Prompt> = {}): Prompt {
  const framed = `<<${text}>>`;
  const fixed = { runId: "r1", taskId: "t1", from: "caller", instructions: "Be kind.", files: [], hops: 0 } as const;
  return { ...fixed, text, framed, tools: {}, ...more };
}

async function play(events: AsyncIterable<EngineEvent>, onShown: (shown: string) => void): Promise<PlayedTurn> {
  const all: EngineEvent[] = [];
  let shown = "";
  for await (const event of events) {
    all.push(event);
    if (event.kind === "message") shown = "";
    if (event.kind === "text") shown += event.text;
    onShown(shown);
  }
  const last = all.at(-1);
  return { events: all, shown, outcome: last?.kind === "end" ? last.outcome : undefined };
}

/** A conversation in memory; what is noted goes through JSON, as on disk. */
class Talk {
  readonly turns: PastTurn[];
  summary: string | undefined;
  noted: unknown[] = [];
  #running: Prompt | undefined;

  constructor(turns: readonly PastTurn[]) {
    this.turns = [...turns];
  }

  readonly note = (entry: unknown): Promise<void> => {
    if (this.#running === undefined) return Promise.reject(new RangeError("Cannot note an entry: no turn runs"));
    const text = JSON.stringify(entry);
    if (text.length * 3 >= 2 ** 20) return Promise.reject(new RangeError("Cannot write a transcript line"));
    this.noted.push(JSON.parse(text));
    return Promise.resolve();
  };

  readonly compact = (count: number, summary: string): Promise<void> => {
    this.summary = summary;
    this.turns.splice(0, count);
    return Promise.resolve();
  };

  isRunning(prompt: Prompt): boolean {
    return this.#running === prompt;
  }

  begin(prompt: Prompt): void {
    this.#running = prompt;
    this.noted = [];
  }

  end(outcome: TurnOutcome | undefined): void {
    if (this.#running === undefined) return;
    const { from, taskId, text } = this.#running;
    const reply = outcome?.kind === "answered"
      ? outcome.text
      : outcome?.kind === "asked"
      ? outcome.question
      : undefined;
    this.turns.push({ from, taskId, text, entries: this.noted, outcome: outcome?.kind ?? "failed", reply });
    this.#running = undefined;
  }
}
