import { boxSettings } from "./box_settings.ts";
import {
  addressRanges,
  baseUrl,
  bytes,
  choice,
  duration,
  flag,
  line,
  listenAddress,
  model,
  optional,
  path,
  pathPatterns,
  type Setting,
  setting,
  wholeNumber,
} from "./setting_kinds.ts";

/** Where a value came from, the strongest first. */
export type Source = "flag" | "environment" | "file" | "default" | "none";

/** The value of one setting and where it came from. `text` is for showing it: as it was given, or `[redacted]`. */
export interface Configured<T> {
  readonly value: T;
  readonly source: Source;
  readonly text: string;
}

/**
 * The settings table: the only list of settings there is (product.md §16).
 *
 * A number with "0 means no limit" in its doc is `Infinity` when it is 0, so that `count >= max` and a wait of that
 * length need no special case.
 */
export const settings = {
  enabled: setting("Enabled", flag(), {
    default: "true",
    doc: "Whether other agents are answered: the endpoints, their tasks and sessions",
  }),
  listen: setting("Listen", listenAddress(), {
    default: "127.0.0.1:5099",
    doc: "Where the endpoints listen. Port 0 takes any that is free",
  }),
  publicUrl: optional("PublicUrl", baseUrl(), {
    doc:
      "Where others reach the endpoints from outside, for the card. When absent, the card says what its reader asked for",
  }),
  trustedProxies: setting("TrustedProxies", addressRanges(), {
    default: "",
    doc: "Whose `X-Forwarded-Proto` and `X-Forwarded-Host` count for the addresses on the card",
  }),
  strictVersion: setting("StrictVersion", flag(), {
    default: "false",
    doc: "Whether a request that names no version of A2A is refused, as the specification has it",
  }),
  bodyBytesMax: setting("MaxBodyBytes", bytes("0 is none"), {
    default: "32MiB",
    doc: "The largest body of a request. 0 means no limit but the 64MiB that all bodies together may take",
  }),
  requestsPerMinute: setting("RequestsPerMinute", wholeNumber("0 is none"), {
    default: "60",
    doc: "Requests of one caller in a minute that send a message; one more is refused. 0 means no limit",
  }),
  readsPerMinute: setting("ReadsPerMinute", wholeNumber("0 is none"), {
    default: "600",
    doc: "All other requests of one caller in a minute; one more is refused. 0 means no limit",
  }),
  cardName: setting("Card:Name", line(200), {
    default: "Volcanic assistant",
    doc: "The name on the public card, and on a caller's card when `card.json` gives none",
  }),
  cardDescription: setting("Card:Description", line(1000), {
    default: "A personal assistant that talks and works with other agents on behalf of its owner.",
    doc:
      "The description on the public card, and on a caller's card when neither `card.json` nor `PERSONA.md` gives one",
  }),
  engine: optional("Engine", choice("faux", "llm", "acp", "exec"), {
    doc: "What thinks. When absent, exactly one of the engines' own settings must say",
  }),
  model: optional("Model", model(), {
    doc: "The model that the engine `llm` runs on, as `provider:model`. Set alone, it chooses that engine",
  }),
  modelBaseUrl: optional("ModelBaseUrl", baseUrl(), {
    doc: "Where the model's server is, when it is not the provider's own; needed for `openai-compatible`",
  }),
  modelKey: optional("ModelKey", line(4096), {
    secret: true,
    doc: "The key for the model, or `file:NAME` for a file in the service manager's `$CREDENTIALS_DIRECTORY`. When " +
      "absent, the provider's own variable counts: `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, " +
      "`GOOGLE_GENERATIVE_AI_API_KEY` or `GEMINI_API_KEY`",
  }),
  modelContextTokens: optional("ModelContextTokens", wholeNumber(), {
    doc:
      "How many tokens the model takes in. When absent, what is known of the model counts, and 32768 for a server of " +
      "one's own. Near it, older turns are summarised",
  }),
  modelSilenceMs: setting("ModelTimeout", duration("0 is none"), {
    default: "5m",
    doc: "How long the model may say nothing; then the run fails. 0 means no limit",
  }),
  modelFiles: optional("ModelFiles", choice("none", "images", "all"), {
    doc: "Which files a model is shown itself, besides text: `all` is images and PDF. When absent, all, and none for " +
      "`openai-compatible`",
  }),
  maxHops: setting("MaxHops", wholeNumber(), {
    default: "3",
    doc: "The longest chain of agents a message may have come through; a message over it makes a failed task",
  }),
  sessionIdleMs: setting("SessionIdleTimeout", duration("0 is none"), {
    default: "30m",
    doc: "How long an idle session stays open. It resumes from its transcript, so nothing is lost. 0 means no limit",
  }),
  fileBytesMax: setting("MaxFileBytes", bytes("0 is none"), {
    default: "10MiB",
    doc: "The largest file that comes in or goes out in one part. 0 means no limit",
  }),
  waitMs: setting("WaitTimeout", duration("0 is none"), {
    default: "0",
    doc:
      "How long a blocking send waits; then it answers the task as it stands, and the work goes on. 0 means no limit",
  }),
  hide: setting("Hide", pathPatterns(), {
    default: "",
    doc:
      "What no caller may see of the workspaces, besides what looks like a secret: names in any folder, with a slash before them " +
      "in the root; `*` and `?` stand for characters, `**` for folders",
  }),
  durability: setting("Durability", choice("disk", "process"), {
    default: "disk",
    doc: "What a commit survives: `disk` a loss of power, `process` only the end of the process, for less waiting",
  }),
  concurrentRuns: setting("ConcurrentRuns", wholeNumber("0 is none"), {
    default: "3",
    doc: "Runs that work at once in one workspace. 0 means no limit",
  }),
  queuedRuns: setting("QueuedRuns", wholeNumber("0 is none"), {
    default: "32",
    doc: "Runs that wait for their turn in one workspace; one more is refused. 0 means no limit",
  }),
  turnsPerContext: setting("TurnsPerContext", wholeNumber("0 is none"), {
    default: "60",
    doc: "Messages that are worked on in an hour in one context; one more is refused. 0 means no limit",
  }),
  delegatedTurnsInRow: setting("DelegatedTurnsInRow", wholeNumber("0 is none"), {
    default: "20",
    doc:
      "Messages in a row in one context that came through other agents; one more is refused. One that came through " +
      "none, or an hour of silence, begins anew. 0 means no limit",
  }),
  runMs: setting("RunTimeout", duration("0 is none"), {
    default: "24h",
    doc: "How long one run may work; then its task fails. 0 means no limit",
  }),
  inputMs: setting("InputTimeout", duration("0 is none"), {
    default: "30d",
    doc: "How long a task waits for its caller's answer; then it fails. 0 means no limit",
  }),
  keepMs: setting("KeepFor", duration("0 is none"), {
    default: "30d",
    doc: "How old a finished task, its files and its transcript may grow before they are removed. 0 means no limit",
  }),
  storedTasksMax: setting("StoredTasks", wholeNumber("0 is none"), {
    default: "10000",
    doc: "Tasks kept for one caller; the oldest finished one makes room for a new one. 0 means no limit",
  }),
  openSessionsMax: setting("OpenSessions", wholeNumber("0 is none"), {
    default: "100",
    doc: "Sessions open at once for one caller; the one idle longest is closed for a new one. 0 means no limit",
  }),
  activeWebhooks: setting("ActiveWebhooks", wholeNumber("0 is none"), {
    default: "200",
    doc: "Webhooks of one caller that are not over; one more is refused. 0 means no limit",
  }),
  pushesPerMinute: setting("PushesPerMinute", wholeNumber("0 is none"), {
    default: "60",
    doc: "Pushes that go out in a minute for one caller to one host; the others wait. 0 means no limit",
  }),
  noticesPerHour: setting("NoticesPerHour", wholeNumber("0 is none"), {
    default: "20",
    doc: "Notices that one caller's sessions may send to the owner in an hour. 0 means no limit",
  }),
  ...boxSettings,
  freeBytesMin: setting("MinFreeBytes", bytes(), {
    default: "256MiB",
    doc: "Free disk space below which no new task is accepted. 0 keeps nothing free",
  }),
  allowPrivatePushUrls: setting("AllowPrivatePushUrls", flag(), {
    default: "false",
    doc: "Whether pushes and downloads may go to loopback, private, unique-local and CGNAT addresses, and by `http`. " +
      "Metadata servers and link-local addresses stay closed",
  }),
  outboundAllow: setting("OutboundAllow", addressRanges(), {
    default: "",
    doc: "Addresses that what callers and agents name may lead to, whatever they are for",
  }),
  outboundDeny: setting("OutboundDeny", addressRanges(), {
    default: "",
    doc: "Addresses that nothing is sent to. It counts before every other setting",
  }),
  nat64: setting("Nat64", choice("refuse", "judge-embedded"), {
    default: "refuse",
    doc:
      "What an address of `64:ff9b::/96` counts as: `refuse` as forbidden, `judge-embedded` as the IPv4 address in it, " +
      "for networks that reach IPv4 only so",
  }),
  caFile: optional("CaFile", path(), {
    doc: "A file of certificates in PEM that are trusted besides the usual ones, when something is sent by `https`",
  }),
  drainMs: setting("DrainTimeout", duration(), {
    default: "30s",
    doc: "How long runs may go on after the host was told to end; then they fail",
  }),
  logLevel: setting("LogLevel", choice("trace", "debug", "info", "warning", "error"), {
    default: "info",
    doc: "The least severe lines that are logged",
  }),
} as const;

/** The name of a setting in the program. */
export type SettingName = keyof typeof settings;

type ValueOf<S> = S extends { parse(text: string): infer T }
  ? S extends { readonly default: string } ? NonNullable<T> : T
  : never;

/** Every setting with its value and source. */
export type Config = { readonly [Name in SettingName]: Configured<ValueOf<(typeof settings)[Name]>> };

/** What may set a value. Each part is optional; the command line reads the file, this module does not. */
export interface ConfigSources {
  /** By flag name, without dashes: only those that were given. */
  readonly flags?: Readonly<Record<string, string>>;
  /** As `readEnvironment` gives it. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The text of the file that `--config` names, and its path for messages. */
  readonly file?: { readonly path: string; readonly text: string };
}

/** The outcome of `readConfig`: a configuration without problems, or all problems at once, one sentence each. */
export type ConfigResult =
  | { readonly kind: "config"; readonly config: Config }
  | { readonly kind: "problems"; readonly problems: readonly string[] };

/**
 * Puts the settings together: flag over environment over file over default.
 *
 * Every unknown name and every bad value is reported, those of a weaker source too, so that one look mends all. A
 * problem shows the value unless the setting is a secret. An empty environment variable counts as not set. Never throws
 * (product.md §16).
 */
export function readConfig(sources: ConfigSources): ConfigResult {
  const problems: string[] = [];
  const given: readonly [Source, Given][] = [
    ["flag", byKey("flag", sources.flags ?? {}, problems)],
    ["environment", byKey("env", setVariables(sources.environment ?? {}), problems)],
    ["file", sources.file === undefined ? new Map() : parseFile(sources.file, problems)],
  ];
  const config: Record<string, Configured<unknown>> = {};
  for (const [name, setting] of Object.entries(settings) as [string, Setting<unknown>][]) {
    const values = given.flatMap(([source, texts]) => valueFrom(source, texts, { setting, problems }));
    config[name] = values[0] ?? defaultOf(setting);
  }
  return problems.length > 0 ? { kind: "problems", problems } : { kind: "config", config: config as Config };
}

/** Reads the settings in the process's environment: all variables that begin with `A2A__` or `A2AClient__`. */
export function readEnvironment(): Record<string, string> {
  return Object.fromEntries(Object.entries(Deno.env.toObject()).filter(([name]) => isOurs(name)));
}

/**
 * Reads one variable of the environment that is no setting of ours: a key of a model's provider, or where the service manager
 * keeps credentials. Undefined when it is not set, or empty. Only the command line asks, for what it may give to the host.
 */
export function readVariable(name: string): string | undefined {
  return Deno.env.get(name) || undefined;
}

/** The texts of one source by the setting's key, each with the name under which it was found. */
type Given = Map<string, { readonly name: string; readonly text: string }>;

const allSettings: readonly Setting<unknown>[] = Object.values(settings);

function isOurs(name: string): boolean {
  return /^a2a(client)?__/i.test(name);
}

function setVariables(environment: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).filter(([name, text]) => isOurs(name) && text !== ""));
}

function byKey(
  field: "key" | "env" | "flag",
  texts: Readonly<Record<string, string>>,
  problems: string[],
): Given {
  const given: Given = new Map();
  const shown = (name: string) => field === "flag" ? `--${name}` : name;
  for (const [name, text] of Object.entries(texts)) {
    const setting = allSettings.find((setting) => setting[field].toLowerCase() === name.toLowerCase());
    if (setting === undefined) {
      const near = nearest(name, allSettings.map((setting) => setting[field]));
      const cure = near === undefined
        ? 'see "volcanic-a2a config" for those there are'
        : `did you mean ${shown(near)}?`;
      problems.push(`Unknown setting ${shown(name)}: ${cure}`);
      continue;
    }
    const other = given.get(setting.key);
    if (other !== undefined && other.text !== text) {
      problems.push(`Cannot choose between ${other.name} and ${shown(name)}: they are one setting, remove one`);
    }
    given.set(setting.key, { name: shown(name), text });
  }
  return given;
}

function parseFile(file: { readonly path: string; readonly text: string }, problems: string[]): Given {
  let content: unknown;
  try {
    content = JSON.parse(file.text);
  } catch {
    problems.push(`Cannot read ${file.path}: expected JSON`);
    return new Map();
  }
  if (content === null || typeof content !== "object" || Array.isArray(content)) {
    problems.push(`Cannot read ${file.path}: expected an object of settings by name`);
    return new Map();
  }
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(content)) {
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      texts[name] = String(value);
    } else {
      problems.push(`Cannot read ${name} in ${file.path}: expected a text, a number, true or false`);
    }
  }
  return byKey("key", texts, problems);
}

function valueFrom(
  source: Source,
  texts: Given,
  { setting, problems }: { setting: Setting<unknown>; problems: string[] },
): Configured<unknown>[] {
  const given = texts.get(setting.key);
  if (given === undefined) return [];
  const value = setting.parse(given.text.trim());
  if (value !== undefined) return [{ value, source, text: setting.secret ? redacted : given.text.trim() }];
  const shown = setting.secret ? "" : ` ${JSON.stringify(given.text.slice(0, 100))}`;
  problems.push(`Cannot read ${given.name}${shown}: expected ${setting.expects}`);
  return [];
}

const redacted = "[redacted]";

function defaultOf(setting: Setting<unknown>): Configured<unknown> {
  if (setting.default === undefined) return { value: undefined, source: "none", text: "" };
  return { value: setting.parse(setting.default), source: "default", text: setting.default };
}

/** The name that is at most a third of its letters away; undefined when none is. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const rows = known.map((other) => ({ other, steps: distance(name.toLowerCase(), other.toLowerCase()) }));
  const best = rows.sort((a, b) => a.steps - b.steps)[0];
  return best !== undefined && best.steps <= Math.max(2, best.other.replace(/^.*__/, "").length / 3)
    ? best.other
    : undefined;
}

/** How many letters must be put in, taken out or changed to make `b` of `a`. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [line, letter] of [...a.slice(0, 100)].entries()) {
    const next = [line + 1];
    for (let column = 1; column <= b.length; column++) {
      const change = row[column - 1]! + (letter === b[column - 1] ? 0 : 1);
      next.push(Math.min(change, row[column]! + 1, next[column - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
