import { createFaultyDisk, type FaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { copyFolder } from "@tests/fakes/file_store.ts";
import { alice, type Sent, submission } from "@tests/fakes/run_service_fixture.ts";
import { stateWord } from "@tests/fakes/commit_gate.ts";
import { createScriptedOutbound } from "@tests/fakes/scripted_outbound.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock, type TestClock } from "@tests/fakes/test_clock.ts";
import { createTestRandom } from "@tests/fakes/test_random.ts";
import { type Host, type HostOptions, type HostRefusal, openHost } from "@/workspace_host.ts";
import { readConfig } from "@/config.ts";
import { Counters } from "@/counters.ts";
import { createFauxEngine } from "@/engine/faux_engine.ts";
import type { TaskId } from "@/protocol/ids.ts";
import type { Accepted } from "@/server/runs/submission.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";

/** A host with the faux engine over a real folder, on a disk and a clock that the test rules. */
export interface TestHost extends AsyncDisposable {
  readonly host: Host;
  readonly disk: FaultyDisk;
  readonly clock: TestClock;
  readonly workspace: string;
  /** Submits what must be accepted. */
  send(text: string, sent?: Sent): Promise<Accepted>;
  record(id: TaskId): Promise<TaskRecord>;
  /** `working`, `input-required`. */
  state(id: TaskId): Promise<string>;
  /** What the task says now: its status message, else its response. */
  says(id: TaskId): Promise<string | undefined>;
  /** Starts a host over a copy of the folder as it is now: what a crash of this moment leaves. Its first sweep is done. */
  crash(): Promise<TestHost>;
}

export interface TestHostOptions {
  readonly flags?: Readonly<Record<string, string>>;
  readonly clock?: TestClock;
  readonly random?: HostOptions["random"];
  readonly pid?: number;
  /** Absent: no URL answers. */
  readonly outbound?: HostOptions["outbound"];
  readonly otherStates?: HostOptions["otherStates"];
}

/** Opens `workspace`; a refusal is returned. The first sweep may still run. */
export async function tryHost(
  workspace: string,
  { flags, clock = createTestClock(), random = createTestRandom(), pid = 4711, ...more }: TestHostOptions = {},
): Promise<{ readonly host: Host | HostRefusal; readonly disk: FaultyDisk; readonly clock: TestClock }> {
  const disk = createFaultyDisk(createDisk(systemClock), clock);
  const read = readConfig({ flags: { "min-free-bytes": "0", ...flags } });
  if (read.kind === "problems") throw new Error(read.problems.join("\n"));
  const engine = createFauxEngine({ clock });
  const outbound = more.outbound ?? createScriptedOutbound(clock);
  const { otherStates } = more;
  const parts = { engine, disk, clock, random, pid, counters: new Counters(), outbound, otherStates };
  const host = await openHost({ workspace, config: read.config, ...parts });
  return { host, disk, clock };
}

/** Opens a host over a new folder, or over `workspace`, which is then removed with it. */
export async function startHost(options: TestHostOptions & { readonly workspace?: string } = {}): Promise<TestHost> {
  const temp = options.workspace === undefined ? await makeTempFolder() : ownedFolder(options.workspace);
  const all = { clock: createTestClock(), random: createTestRandom(), ...options };
  const { host, disk, clock } = await tryHost(temp.path, all);
  if (host.kind === "refused") throw new Error(host.message);
  await clock.settle();
  const record: TestHost["record"] = async (id) => {
    const found = await host.store.read(id, alice);
    if (found === undefined) throw new Error(`There is no task ${id}`);
    return found;
  };
  return {
    ...{ host, disk, clock, record, workspace: temp.path },
    async send(text, sent) {
      const answer = await host.runs.submit(submission(text, sent));
      if (answer.kind === "refused") throw new Error(`Refused: ${answer.why}`);
      return answer;
    },
    state: async (id) => stateWord(await record(id)),
    async says(id) {
      const { status, artifacts } = (await record(id)).task;
      return (status.message ?? artifacts?.[0])?.parts.map(({ text }) => text).join("");
    },
    async crash() {
      const copy = await Deno.makeTempDir({ prefix: "volcanic-a2a-" });
      await copyFolder(temp.path, copy);
      return await startHost({ ...all, workspace: await Deno.realPath(copy) });
    },
    async [Symbol.asyncDispose]() {
      const closing = host[Symbol.asyncDispose]();
      await clock.advance(6_000);
      await closing;
      await temp[Symbol.asyncDispose]();
    },
  };
}

/** The lines of a scope's transcript of alice, short: `turn text`, `end answered`. */
export async function transcriptOf({ workspace }: TestHost, contextId: string): Promise<string[]> {
  const path = `${workspacePaths(workspace).sessions}/ws-a2a-alice_${contextId}.jsonl`;
  const lines = (await Deno.readTextFile(path)).trimEnd().split("\n").map((line) => JSON.parse(line));
  return lines.flatMap(({ kind, text, outcome }) => {
    if (kind === "turn") return [`turn ${text}`];
    return kind === "end" ? [`end ${outcome}${text === undefined ? "" : ` ${text}`}`] : [];
  });
}

function ownedFolder(path: string) {
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
