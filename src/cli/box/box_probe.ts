import { join } from "node:path";
import type { CallerName } from "@/protocol/ids.ts";
import type { Random } from "@/random.ts";
import type { Clock } from "@/time/clock.ts";
import { callerMap } from "@/workspace/caller_map.ts";
import type { Disk } from "@/workspace/disk.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";
import { boxCommand, boxEnvironment, type BoxLimits, type StartedCommand } from "./box_arguments.ts";
import { makeBoxFiles } from "./box_files.ts";
import { findMasks } from "./box_masks.ts";
import { type BoxSystem, findBoxSystem, type NoBox } from "./box_system.ts";
import { RunningProgram } from "./running_program.ts";

/** A box that was tried and holds. */
export interface ProvenBox extends BoxSystem {
  readonly kind: "box";
  /** As bwrap says it: `bwrap 0.8.0`. */
  readonly version: string;
}

/** What trying the box needs. */
export interface BoxProbeOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  /** Where a folder may be made and removed. */
  readonly folder: string;
}

/** The probe's programs are over in milliseconds; what takes longer does not work. */
const probeMs = 10_000;

/**
 * Tries the box with a canary, in a folder of its own: what is hidden is not there, what is read-only stays, no network, a clean
 * environment, only the box's own processes, and its end ends what it left behind. Everything must hold, or there is no box: what
 * a kernel or a policy refuses shows here and not in a caller's session. Never rejects.
 */
export async function probeBox(options: BoxProbeOptions): Promise<ProvenBox | NoBox> {
  const { disk, clock, random } = options;
  const folder = join(options.folder, `volcanic-a2a-probe-${random.hex(8)}`);
  try {
    const system = await findBoxSystem(disk);
    if ("kind" in system) return system;
    const version = await run(options, { program: system.bwrap, args: ["--version"] });
    const begun = clock.elapsed();
    const said = await run(options, await canaryCommand(system, { ...options, folder }));
    if (said.text.trim() !== "holds") {
      return none(firstLine(said.text) || `bwrap ended with ${said.code} and said nothing`);
    }
    // It holds the output open as long as it lives.
    if (clock.elapsed() - begun >= 4_000) return none("a process outlives its box");
    return { ...system, kind: "box", version: firstLine(version.text).replace("bubblewrap", "bwrap") };
  } catch (error) {
    return none(error instanceof Error ? error.message : String(error));
  } finally {
    await disk.remove(folder).catch(() => {});
  }
}

async function canaryCommand(system: BoxSystem, options: BoxProbeOptions) {
  const { disk, folder } = options;
  const caller = "canary" as CallerName;
  const paths = workspacePaths(folder);
  const files = await makeBoxFiles(paths.box, options);
  for (const path of [paths.workOf(caller), paths.inboxOf(caller)]) await disk.makeFolder(path);
  for (const name of [".env", "plain"]) {
    using file = await disk.createNew(join(folder, name));
    await file.write(new TextEncoder().encode("canary"));
  }
  const map = callerMap({ paths, caller, access: "read", hide: [], otherStates: [] });
  const found = await findMasks(map, { disk });
  if (found.kind === "refused") throw new Error(found.why);
  const limits: BoxLimits = { memoryBytes: 2 ** 30, processes: 64, fileBytes: 2 ** 20, scratchBytes: 2 ** 20 };
  return boxCommand({
    ...{ system, files, map, masks: found.masks, network: false, limits },
    command: ["/bin/sh", "-c", canary],
  });
}

/** Each line ends the probe with what does not hold. */
const canary = `
test "$(cat plain)" = canary || { echo "the workspace cannot be read"; exit 1; }
test -z "$(cat .env)" || { echo "a hidden file can be read"; exit 1; }
test -z "$(ls -A .volcanic)" || { echo "hidden state can be read"; exit 1; }
( : > new ) 2>/dev/null && { echo "the workspace can be written"; exit 1; }
( : > .env ) 2>/dev/null && { echo "a hidden file can be written"; exit 1; }
( : > work/canary/own ) || { echo "the caller's own folder cannot be written"; exit 1; }
test "$(grep -c : /proc/net/dev)" = 1 || { echo "there is a network"; exit 1; }
test "$(tr '\\0' '\\n' < /proc/1/environ | cut -d= -f1 | sort | tr '\\n' ' ')" = "HOME LANG PATH PWD TMPDIR USER " ||
  { echo "the environment is not clean"; exit 1; }
for process in /proc/[0-9]*; do
  test "\${process#/proc/}" -lt 100 || { echo "processes of the machine are seen"; exit 1; }
done
sleep 5 &
echo holds`;

async function run(
  { clock }: BoxProbeOptions,
  command: StartedCommand,
): Promise<{ readonly code: number; readonly text: string }> {
  const started = await RunningProgram.start({
    ...{ ...command, clock, environment: boxEnvironment, timeoutMs: probeMs, outputBytesMax: 64 * 1024 },
    isDiskFull: () => Promise.resolve(false),
  });
  if ("kind" in started) return { code: 1, text: started.said };
  await using program = started;
  const [out, error, end] = await Promise.all([
    new Response(program.stdout).text(),
    new Response(program.stderr).text(),
    program.ended,
    program.stdin.close().catch(() => {}),
  ]);
  return { code: end.code, text: out + error };
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0]!.slice(0, 200);
}

function none(why: string): NoBox {
  return { kind: "none", why };
}
