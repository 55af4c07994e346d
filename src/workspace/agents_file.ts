import { isAbsolute } from "node:path";
import type { Clock } from "@/time/clock.ts";
import { CachedFile, type FileContent, type Parsed } from "./cached_file.ts";
import { entryName, nameOf, reservedNames } from "./callers_file.ts";
import type { Disk } from "./disk.ts";
import * as entries from "./json_entries.ts";
import { Secret } from "./secret.ts";

/** Whom we may call: an entry of `agents.json` (data-model.md 3). */
export interface Agent {
  readonly name: string;
  readonly at:
    /** Absolute http(s), as it is written, without user name and password. */
    | { readonly kind: "url"; readonly url: string }
    /** A workspace of this host. */
    | { readonly kind: "workspace"; readonly workspace: string };
  /** Replaces the description on the agent's card. */
  readonly description?: string;
  readonly key?: AgentKey;
  /** Sent with each request to the agent's origin. */
  readonly headers: Readonly<Record<string, Secret>>;
  /** True: the key goes to the origin of `url` only; false: also to those that its card names. */
  readonly pinOrigin: boolean;
  /** Absent: true when the address in `url` is literal, false when it is a name. */
  readonly allowPrivate?: boolean;
}

/** A key, or where it is kept. References are followed when a call is made, by the thread that may. */
export type AgentKey =
  | { readonly kind: "literal"; readonly secret: Secret }
  /** A variable of the environment: its name begins with `A2A_KEY_`. */
  | { readonly kind: "env"; readonly variable: string }
  /** An absolute path. Whether it is below one of `A2A__SecretDirs` is checked when it is read. */
  | { readonly kind: "file"; readonly path: string };

/** What `agents.json` says now. */
export interface AgentsRead extends Parsed {
  readonly agents: readonly Agent[];
  /** Bad entries of a good file, which the tool reports as `skipped: ...` (seed 000 "agents.json"). */
  readonly skipped: readonly entries.SkippedEntry[];
  /** The file is there and cannot be read: no agents, and for watches a passing failure. */
  readonly malformed: boolean;
}

/** `agents.json` of one workspace, read at every use; the same object as long as the content is the same. */
export class AgentsFile {
  readonly #file: CachedFile<AgentsRead>;

  constructor(options: { readonly disk: Disk; readonly clock: Clock; readonly path: string }) {
    const { path } = options;
    this.#file = new CachedFile({
      ...options,
      bytesMax: agentsBytesMax,
      parse: (content) => parseAgents(content, path),
    });
  }

  /** Never throws, whatever is at the path. */
  read(): AgentsRead {
    return this.#file.read();
  }
}

/** The largest `agents.json` that is read (data-model.md 3). */
export const agentsBytesMax = 1024 * 1024;
/** The most entries of an `agents.json` that count. */
export const agentsMax = 500;

/** Parses the content of `agents.json` at `path`, which is only named in problems. Never throws. */
export function parseAgents(content: FileContent, path: string): AgentsRead {
  const read = entries.readEntries(content, agentsMax);
  if (read.kind === "none") return { agents: [], skipped: [], malformed: false, problems: [] };
  if (read.kind === "malformed") {
    return { agents: [], skipped: [], malformed: true, problems: [`Cannot read ${path}: ${read.why}`] };
  }
  const agents = new Map<string, Agent>();
  const skipped: entries.SkippedEntry[] = [];
  for (const [index, json] of read.entries.entries()) {
    const agent = readAgent(json);
    if ("why" in agent) skipped.push({ number: index + 1, name: nameOf(json), why: agent.why });
    else if (!agents.has(agent.name)) agents.set(agent.name, agent);
    else skipped.push({ number: index + 1, name: agent.name, why: "an earlier entry has its name" });
  }
  const problems = skipped.map((entry) => entries.describeSkipped(path, entry));
  return { agents: [...agents.values()], skipped, malformed: false, problems };
}

/** Reads one entry; `why` says what is wrong with a bad one, without any of its values. */
export function readAgent(json: unknown): Agent | { readonly why: string } {
  if (!entries.isObject(json)) return { why: "it must be an object" };
  const broken = entries.brokenRule(json, agentRules);
  if (broken) return { why: broken };
  const field = <T>(name: string) => entries.fieldOf(json, name) as T | undefined;
  const name = field<string>("name")!;
  if (reservedNames.has(name)) return { why: "its name is reserved" };
  const url = field<string>("url");
  const workspace = field<string>("workspace");
  if ((url === undefined) === (workspace === undefined)) {
    return { why: 'it must have exactly one of "url" and "workspace"' };
  }
  const key = readKey(field("key"));
  const headers = Object.entries(field<Record<string, string>>("headers") ?? {});
  return {
    name,
    at: url === undefined ? { kind: "workspace", workspace: workspace! } : { kind: "url", url },
    description: field("description"),
    key,
    headers: Object.fromEntries(headers.map(([header, value]) => [header, new Secret(value)])),
    pinOrigin: field("pinOrigin") ?? true,
    allowPrivate: field("allowPrivate"),
  };
}

const headersMax = 32;
const headerCharsMax = 8192;

const agentRules: Readonly<Record<string, entries.FieldRule>> = {
  name: { ...entryName, required: true },
  url: { expects: "an absolute http or https URL without user name and password", fits: isAgentUrl },
  workspace: entryName,
  description: entries.text(0, 10_000),
  key: {
    expects: "a key without control characters, env:A2A_KEY_<NAME>, or file:<absolute path>",
    fits: (value) => readKey(value) !== undefined,
  },
  headers: { expects: `an object of at most ${headersMax} header names and their values`, fits: isHeaders },
  pinOrigin: entries.flag,
  allowPrivate: entries.flag,
};

/** The scheme alone makes a reference: a text that begins with one and is no good one is never sent as a key. */
function readKey(value: unknown): AgentKey | undefined {
  if (typeof value !== "string" || value.length === 0 || value.length > 4096 || !isOneLine(value)) return undefined;
  if (value.startsWith("env:")) {
    const variable = value.slice("env:".length);
    return /^A2A_KEY_[A-Z0-9_]{1,100}$/.test(variable) ? { kind: "env", variable } : undefined;
  }
  if (value.startsWith("file:")) {
    const path = value.slice("file:".length);
    return isAbsolute(path) ? { kind: "file", path } : undefined;
  }
  return { kind: "literal", secret: new Secret(value) };
}

function isAgentUrl(value: unknown): boolean {
  if (typeof value !== "string" || value.length > 2048 || !/^https?:\/\//i.test(value)) return false;
  const url = URL.parse(value);
  return url !== null && url.hostname !== "" && url.username === "" && url.password === "";
}

/** Characters that would end a header's line, or its value, are refused here, where a person can be told. */
function isHeaders(value: unknown): boolean {
  if (!entries.isObject(value)) return false;
  const headers = Object.entries(value);
  return headers.length <= headersMax &&
    headers.every(([name, text]) =>
      /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$/.test(name) && typeof text === "string" && text.length <= headerCharsMax &&
      isOneLine(text)
    );
}

function isOneLine(value: string): boolean {
  return !/[\x00-\x1f\x7f]/.test(value);
}
