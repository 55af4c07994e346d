import { getLogger } from "@logtape/logtape";
import type { Random } from "@/random.ts";
import { isoTime, type TimeMs } from "@/time/clock.ts";
import { writeAtomically } from "./atomic_write.ts";
import { type Disk, isMissing } from "./disk.ts";
import { isObject, parseJson } from "./json_entries.ts";

const logger = getLogger(["a2a", "workspace"]);

/** `host.json`: which host has, or last had, a workspace (data-model.md 10). Whether it lives only `host.lock` tells. */
export interface HostRecord {
  readonly v: 1;
  readonly format: number;
  readonly epoch: number;
  readonly pid: number;
  readonly startedAt: string;
  readonly version: string;
  readonly control: { readonly url: string } | null;
}

/** The version of the whole folder that this program writes. */
export const folderFormat = 1;

/**
 * Fences of an epoch begin here: `epoch * 2^26`, so those of a later start are always higher.
 *
 * data-model.md 10 has 2^20: a host that stays up could take more than a million leases, and the fences of its next start
 * would then be lower than those in its transcripts. 2^26 is room for 67 million leases between two starts.
 */
export function fenceBase(epoch: number): number {
  return epoch * fencesPerEpoch;
}

/** What `host.json` says. */
export type HostRead =
  | { readonly kind: "host"; readonly host: HostRecord }
  | { readonly kind: "none" }
  /** Written by a newer program: write nothing in this folder, say so, exit 2. */
  | { readonly kind: "newer"; readonly format: number }
  | { readonly kind: "malformed" };

/** Reads `host.json`; anyone may. Never rejects for what the file holds; rejects with the disk's errors. */
export async function readHost(disk: Disk, path: string): Promise<HostRead> {
  let bytes: Uint8Array;
  try {
    using file = await disk.openRead(path);
    if (file.stamp.kind !== "file" || file.stamp.bytes > bytesMax) return { kind: "malformed" };
    bytes = await file.read();
  } catch (error) {
    if (isMissing(error)) return { kind: "none" };
    throw error;
  }
  const json = parseJson(bytes);
  if (!isObject(json) || !isWhole(json.format)) return { kind: "malformed" };
  if (isWhole(json.v) && json.v > 1) return { kind: "newer", format: Math.max(json.format, folderFormat + 1) };
  if (json.format > folderFormat) return { kind: "newer", format: json.format };
  return isHost(json) ? { kind: "host", host: json } : { kind: "malformed" };
}

/** What a host says of itself when it starts. */
export interface EpochStart {
  readonly random: Random;
  readonly now: TimeMs;
  readonly pid: number;
  readonly version: string;
  /** The highest epoch that other files name (the journal's first line): a lost `host.json` must not bring it back. */
  readonly epochMin?: number;
}

/** The host's record with its new epoch, or why the folder was left alone. */
export type EpochBegun =
  | { readonly kind: "begun"; readonly host: HostRecord; readonly fenceBase: number }
  | { readonly kind: "newer"; readonly format: number };

/**
 * Writes `host.json` for a host that starts, with the next epoch. Only for the holder of `host.lock`.
 *
 * A folder of a newer format is left as it is. When the old epoch cannot be read, the new one is taken from the time, in
 * minutes: higher than any count of starts, so that fences still only grow.
 */
export async function beginEpoch(disk: Disk, path: string, start: EpochStart): Promise<EpochBegun> {
  const before = await readHost(disk, path);
  if (before.kind === "newer") return before;
  let last = before.kind === "host" ? before.host.epoch : 0;
  if (before.kind === "malformed") {
    logger.error("Cannot read {file}: it is malformed; counting epochs on from the time", { file: path });
    last = Math.floor(start.now / 60_000);
  }
  const host: HostRecord = {
    v: 1,
    format: folderFormat,
    epoch: Math.max(last, start.epochMin ?? 0) + 1,
    pid: start.pid,
    startedAt: isoTime(start.now),
    version: start.version,
    control: null,
  };
  await writeHost(disk, path, { host, random: start.random });
  return { kind: "begun", host, fenceBase: fenceBase(host.epoch) };
}

/** Writes `host.json` again, with the address for control once it is known. Only for the holder of `host.lock`. */
export async function writeHost(
  disk: Disk,
  path: string,
  { host, random }: { readonly host: HostRecord; readonly random: Random },
): Promise<void> {
  await writeAtomically(disk, path, { text: `${JSON.stringify(host)}\n`, random });
}

// And for as many starts: a fence stays a whole number that JavaScript holds exactly.
const fencesPerEpoch = 2 ** 26;
const bytesMax = 64 * 1024;
const epochMax = 2 ** 26;

function isHost(json: Readonly<Record<string, unknown>>): json is HostRecord & Record<string, unknown> {
  const { v, epoch, pid, startedAt, version, control } = json;
  return v === 1 && isWhole(epoch) && epoch <= epochMax && isWhole(pid) && typeof startedAt === "string" &&
    typeof version === "string" && (control === null || (isObject(control) && typeof control.url === "string"));
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
