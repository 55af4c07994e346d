import { createFaultyDisk, type FaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock, type TestClock } from "@tests/fakes/test_clock.ts";
import { createTestRandom } from "@tests/fakes/test_random.ts";
import type { Engine, EngineEvent, TurnOutcome } from "@/engine/engine.ts";
import { createFauxEngine } from "@/engine/faux_engine.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { SessionPool, type SessionPoolOptions, type TurnRequest } from "@/sessions/session_pool.ts";

/** A pool over a temp folder, for tests. */
export interface PoolSetting extends AsyncDisposable {
  readonly pool: SessionPool;
  readonly clock: TestClock;
  readonly disk: FaultyDisk;
  /** Where the transcripts are. */
  readonly folder: string;
  /** Another pool over the same folder, as after a restart; not disposed of with the setting. */
  newPool(): SessionPool;
  /** Runs a turn to its end: of `scope` and from alice unless told, with a fence higher than all before. */
  play(text: string, more?: Partial<TurnRequest>): Promise<EngineEvent[]>;
  /** The outcome alone. */
  outcome(text: string, more?: Partial<TurnRequest>): Promise<TurnOutcome | undefined>;
  request(text: string, more?: Partial<TurnRequest>): TurnRequest;
  /** The lines of a scope's transcript. */
  lines(scope?: string): Promise<Record<string, unknown>[]>;
}

/** The scope of turns that name none. */
export const scope = "ws-a2a-alice_c1";

export async function makePool(
  options: Partial<SessionPoolOptions> & { readonly engineOf?: (clock: TestClock) => Engine } = {},
): Promise<PoolSetting> {
  const temp = await makeTempFolder();
  const folder = `${temp.path}/sessions`;
  const clock = createTestClock();
  const disk = createFaultyDisk(createDisk(systemClock), clock);
  const engine = options.engineOf?.(clock) ?? createFauxEngine({ clock });
  const readInstructions = () => Promise.resolve("Be kind.");
  const newPool = () =>
    new SessionPool({
      engine,
      disk,
      clock,
      random: createTestRandom(),
      folder,
      hostVersion: "0.1.0",
      readInstructions,
      ...options,
    });
  const pool = newPool();
  const request = requests();
  const play = async (text: string, more?: Partial<TurnRequest>) => {
    const events: EngineEvent[] = [];
    for await (const event of pool.turn(request(text, more), new AbortController().signal)) events.push(event);
    return events;
  };
  return {
    pool,
    clock,
    disk,
    folder,
    newPool,
    request,
    play,
    async outcome(text, more) {
      const last = (await play(text, more)).at(-1);
      return last?.kind === "end" ? last.outcome : undefined;
    },
    async lines(name = scope) {
      const text = await Deno.readTextFile(`${folder}/${name}.jsonl`);
      return text.trimEnd().split("\n").map((line) => JSON.parse(line));
    },
    async [Symbol.asyncDispose]() {
      await pool[Symbol.asyncDispose]();
      await temp[Symbol.asyncDispose]();
    },
  };
}

/** The outcome that the events end with, of which there is exactly one. */
export function endOf(events: readonly EngineEvent[]): TurnOutcome {
  const ends = events.filter((event) => event.kind === "end");
  if (ends.length !== 1 || events.at(-1) !== ends[0]) {
    throw new Error(`Expected one end, last: ${JSON.stringify(events)}`);
  }
  return ends[0]!.outcome;
}

/** Makes requests with fences that grow. */
function requests(): PoolSetting["request"] {
  let fence = 0;
  return (text, more = {}) => ({
    scope,
    trust: "isolated",
    caller: "alice",
    contextId: "c1",
    fence: ++fence,
    runId: `r${fence}`,
    taskId: "t1",
    from: "caller",
    text,
    files: [],
    hops: 0,
    tools: {},
    ...more,
  });
}
