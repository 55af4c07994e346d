import { type CallerName, isEntryName } from "@/protocol/ids.ts";
import type { Clock, TimeMs } from "@/time/clock.ts";
import { CachedFile, type FileContent, type Parsed } from "./cached_file.ts";
import type { Disk } from "./disk.ts";
import * as entries from "./json_entries.ts";
import { hashKey, type KeyHash, readKeyHash, sameKeyHash } from "./key_hash.ts";
import { Secret } from "./secret.ts";

/** Who may call us: an entry of `callers.json` (data-model.md 1). */
export interface Caller {
  /** Whose the work is: the entry's name, or `@<workspace>` for a local one. */
  readonly caller: CallerName;
  /** The name of the entry, which editors and lists use. */
  readonly name: string;
  /** How the caller shows who it is. A key that stands in clear in the file is hashed here, and kept to be scrubbed. */
  readonly by:
    | { readonly kind: "key"; readonly hash: KeyHash; readonly clear?: Secret; readonly previous?: PreviousKey }
    | { readonly kind: "workspace"; readonly workspace: string };
  /** The last four characters of a key of 12 or more, where they are known. */
  readonly keyHint?: string;
  /** From this moment on it gets no new work and its streams end. */
  readonly expires?: TimeMs;
  readonly note?: string;
  readonly limits: CallerLimits;
  readonly access: "read" | "write";
  readonly network: boolean;
  readonly mayDelegate: boolean;
}

/** A key that was rotated away and still works for a while. */
export interface PreviousKey {
  readonly hash: KeyHash;
  readonly until: TimeMs;
}

/** A caller's own limits as its entry has them; what is absent is the setting's, and 0 means none: `limitOf`. */
export interface CallerLimits {
  readonly requestsPerMinute?: number;
  readonly readsPerMinute?: number;
  readonly concurrentRuns?: number;
  readonly contexts?: number;
  readonly storedTasks?: number;
  readonly diskBytes?: number;
  readonly turnsPerContext?: number;
  readonly runTimeoutMs?: number;
}

/** What `callers.json` says now. */
export interface CallersRead extends Parsed {
  readonly callers: readonly Caller[];
  /** Bad entries of a good file. A caller whose entry is here gets no new work, and was not removed. */
  readonly skipped: readonly entries.SkippedEntry[];
  /** There is no file: nobody may call. Some editors remove a file before they save it, so this alone ends nothing. */
  readonly missing: boolean;
  /** The file is there and cannot be read: no request is let in, and nothing that runs is ended. */
  readonly malformed: boolean;
}

/** `callers.json` of one workspace, read at every use; the same object as long as the content is the same. */
export class CallersFile {
  readonly #file: CachedFile<CallersRead>;

  constructor(options: { readonly disk: Disk; readonly clock: Clock; readonly path: string }) {
    const { path } = options;
    this.#file = new CachedFile({
      ...options,
      bytesMax: callersBytesMax,
      parse: (content) => parseCallers(content, path),
    });
  }

  /** Never throws, whatever is at the path. */
  read(): CallersRead {
    return this.#file.read();
  }
}

/** The largest `callers.json` that is read (data-model.md 1). */
export const callersBytesMax = 1024 * 1024;
/** The most entries of a `callers.json` that count. */
export const callersMax = 1000;

/** Says whether a presented key, given as its hash, is this caller's at `now`. Its expiry is another question. */
export function acceptsKey(caller: Caller, presented: KeyHash, now: TimeMs): boolean {
  if (caller.by.kind !== "key") return false;
  const { hash, previous } = caller.by;
  const isCurrent = sameKeyHash(hash, presented);
  // Both are always compared, so that the time does not tell which one it was.
  const isPrevious = sameKeyHash(previous?.hash ?? hash, presented) && previous !== undefined && now < previous.until;
  return isCurrent || isPrevious;
}

/** Parses the content of `callers.json` at `path`, which is only named in problems. Never throws. */
export function parseCallers(content: FileContent, path: string): CallersRead {
  const read = entries.readEntries(content, callersMax);
  if (read.kind === "none") return { ...nobody, missing: true };
  if (read.kind === "malformed") {
    const problem = `Cannot read ${path}: ${read.why}; new requests are refused until it is repaired`;
    return { ...nobody, malformed: true, problems: [problem] };
  }
  const callers = new Map<string, Caller>();
  const skipped: entries.SkippedEntry[] = [];
  for (const [index, json] of read.entries.entries()) {
    const caller = readCaller(json);
    const why = "why" in caller ? caller.why : duplicate(caller, callers);
    if (why === undefined) callers.set((caller as Caller).name, caller as Caller);
    else skipped.push({ number: index + 1, name: nameOf(json), why });
  }
  const problems = [
    ...skipped.map((entry) => entries.describeSkipped(path, entry)),
    ...[...callers.values()].flatMap((caller) => notEnforced(caller, path)),
  ];
  return { ...nobody, callers: [...callers.values()], skipped, problems };
}

/** What an entry asks for and this version does not do yet: better said than silently passed over. */
function notEnforced({ name, mayDelegate }: Caller, path: string): string[] {
  return mayDelegate ? [`Entry "${name}" of ${path} sets mayDelegate, which this version does not act on yet`] : [];
}

/** Reads one entry; `why` says what is wrong with a bad one, without any of its values. */
export function readCaller(json: unknown): Caller | { readonly why: string } {
  if (!entries.isObject(json)) return { why: "it must be an object" };
  const broken = entries.brokenRule(json, callerRules);
  if (broken) return { why: broken };
  const field = <T>(name: string) => entries.fieldOf(json, name) as T | undefined;
  if (reservedNames.has(field<string>("name")!)) return { why: "its name is reserved; give it another" };
  const ways = ["key", "keyHash", "workspace"].filter((name) => field(name) !== undefined);
  if (ways.length !== 1) return { why: 'it must have exactly one of "key", "keyHash" and "workspace"' };
  const previous = readPrevious(json);
  if (previous === "half") return { why: '"previousKeyHash" and "previousUntil" must be there both or neither' };
  const clear = field<string>("key");
  const workspace = field<string>("workspace");
  const name = field<string>("name")!;
  const secret = clear === undefined ? undefined : new Secret(clear);
  return {
    caller: (workspace === undefined ? name : `@${workspace}`) as CallerName,
    name,
    by: workspace === undefined
      ? { kind: "key", hash: secret ? hashKey(clear!) : readKeyHash(field("keyHash"))!, clear: secret, previous }
      : { kind: "workspace", workspace },
    keyHint: secret ? secret.hint() : field("keyHint"),
    expires: entries.readMoment(field("expires")),
    note: field("note"),
    limits: readLimits(field("limits") ?? {}),
    access: field("access") ?? "read",
    network: field("network") ?? false,
    mayDelegate: field("mayDelegate") ?? false,
  };
}

/** The name of an entry when it is fit to be shown; else its number must do. */
export function nameOf(json: unknown): string | undefined {
  const name = entries.isObject(json) ? entries.fieldOf(json, "name") : undefined;
  return isEntryName(name) ? name : undefined;
}

/** Names that no entry may have: folders and senders of ours are called so (data-model.md 1). */
export const reservedNames: ReadonlySet<string> = new Set(["a2a", "owner", "host"]);

/** A rule for the name of an entry, and for the name of a workspace. */
export const entryName: entries.FieldRule = { expects: '1 to 40 of a-z, 0-9 and "-"', fits: isEntryName };

const nobody: CallersRead = { callers: [], skipped: [], missing: false, malformed: false, problems: [] };

const keyHash: entries.FieldRule = {
  expects: '"sha256:" and 64 hex digits',
  fits: (value) => readKeyHash(value) !== undefined,
};

const limitNames = [
  "requestsPerMinute",
  "readsPerMinute",
  "concurrentRuns",
  "contexts",
  "storedTasks",
  "diskBytes",
  "turnsPerContext",
] as const;

const callerRules: Readonly<Record<string, entries.FieldRule>> = {
  name: { ...entryName, required: true },
  key: entries.text(1, 512),
  keyHash,
  previousKeyHash: keyHash,
  previousUntil: entries.moment,
  expires: entries.moment,
  mode: entries.oneOf("isolated"),
  note: entries.text(0, 500),
  limits: { expects: 'an object of whole numbers from 0, and a duration as "runTimeout"', fits: isLimits },
  access: entries.oneOf("read", "write"),
  network: entries.flag,
  mayDelegate: entries.flag,
  workspace: entryName,
  keyHint: entries.text(1, 4),
};

function duplicate(caller: Caller | { readonly why: string }, earlier: ReadonlyMap<string, Caller>) {
  if ("why" in caller) return caller.why;
  if (earlier.has(caller.name)) return "an earlier entry has its name";
  const isTaken = earlier.values().some((other) => other.caller === caller.caller);
  return isTaken ? "an earlier entry lets in the same workspace" : undefined;
}

function readPrevious(json: entries.JsonObject): PreviousKey | undefined | "half" {
  const hash = readKeyHash(entries.fieldOf(json, "previousKeyHash"));
  const until = entries.readMoment(entries.fieldOf(json, "previousUntil"));
  if (hash === undefined && until === undefined) return undefined;
  return hash === undefined || until === undefined ? "half" : { hash, until };
}

function isLimits(value: unknown): boolean {
  if (!entries.isObject(value)) return false;
  const timeout = entries.fieldOf(value, "runTimeout");
  if (timeout !== undefined && entries.readDurationMs(timeout) === undefined) return false;
  return limitNames.every((name) => {
    const limit = entries.fieldOf(value, name);
    return limit === undefined || (Number.isSafeInteger(limit) && (limit as number) >= 0);
  });
}

function readLimits(json: entries.JsonObject): CallerLimits {
  const numbers = limitNames.map((name) => [name, entries.fieldOf(json, name)]).filter(([, value]) =>
    value !== undefined
  );
  const timeout = entries.fieldOf(json, "runTimeout");
  return {
    ...Object.fromEntries(numbers),
    ...(timeout === undefined ? {} : { runTimeoutMs: entries.readDurationMs(timeout) }),
  };
}
