import type { Clock } from "@/time/clock.ts";
import { CachedFile, type FileContent, type Parsed } from "./cached_file.ts";
import type { Disk } from "./disk.ts";
import * as entries from "./json_entries.ts";

/** What the owner wants on the extended card; what is absent comes from the settings (data-model.md 2). */
export interface CardOverrides {
  readonly name?: string;
  readonly description?: string;
  readonly version?: string;
  readonly documentationUrl?: string;
  readonly iconUrl?: string;
  readonly provider?: { readonly organization: string; readonly url: string };
  /** Absent: the skills that are found in the workspace, else `chat`. */
  readonly skills?: readonly CardSkill[];
}

/** A skill as `card.json` names it (data-model.md 2). */
export interface CardSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples?: readonly string[];
  readonly inputModes?: readonly string[];
  readonly outputModes?: readonly string[];
}

/** What `card.json` says now. */
export interface CardRead extends Parsed {
  /** Absent: the file is missing or malformed, and the fallback card stands. */
  readonly card?: CardOverrides;
  readonly malformed: boolean;
}

/** `card.json` of one workspace, read at every use; the same object as long as the content is the same. */
export class CardFile {
  readonly #file: CachedFile<CardRead>;

  constructor(options: { readonly disk: Disk; readonly clock: Clock; readonly path: string }) {
    const { path } = options;
    this.#file = new CachedFile({ ...options, bytesMax: cardBytesMax, parse: (content) => parseCard(content, path) });
  }

  /** Never throws, whatever is at the path. */
  read(): CardRead {
    return this.#file.read();
  }
}

/**
 * Parses the content of `card.json` at `path`, which is only named in problems. Never throws.
 *
 * A wrong field of the card makes the whole file malformed; a bad skill in a good card is left out and named.
 */
export function parseCard(content: FileContent, path: string): CardRead {
  if (content.kind === "missing") return { malformed: false, problems: [] };
  const malformed = (why: string) => ({ malformed: true, problems: [`Cannot read ${path}: ${why}`] });
  if (content.kind === "unusable") return malformed(content.why);
  const json = entries.parseJson(content.bytes);
  if (!entries.isObject(json)) return malformed("expected a JSON object in UTF-8");
  const broken = entries.brokenRule(json, cardRules);
  if (broken) return malformed(broken);
  const card = pick(json, ["name", "description", "version", "documentationUrl", "iconUrl"]) as CardOverrides;
  const provider = entries.fieldOf(json, "provider") as entries.JsonObject | undefined;
  const { skills, problems } = readSkills(entries.fieldOf(json, "skills") as readonly unknown[] | undefined, path);
  return {
    card: {
      ...card,
      ...(provider && { provider: pick(provider, ["organization", "url"]) as unknown as CardOverrides["provider"] }),
      ...(skills && { skills }),
    },
    malformed: false,
    problems,
  };
}

const cardBytesMax = 256 * 1024;
const skillsMax = 100;
const anyText: entries.FieldRule = { expects: "a string", fits: (value) => typeof value === "string" };
const someText: entries.FieldRule = {
  expects: "a string that is not empty",
  required: true,
  fits: (value) => typeof value === "string" && value.trim() !== "",
};
const texts: entries.FieldRule = { expects: "an array of strings", fits: isTexts };

const cardRules: Readonly<Record<string, entries.FieldRule>> = {
  name: anyText,
  description: anyText,
  version: anyText,
  documentationUrl: anyText,
  iconUrl: anyText,
  provider: {
    expects: 'an object with the strings "organization" and "url"',
    fits: (value) => entries.isObject(value) && typeof value.organization === "string" && typeof value.url === "string",
  },
  skills: {
    expects: `an array of at most ${skillsMax} skills`,
    fits: (value) => Array.isArray(value) && value.length <= skillsMax,
  },
};

const skillRules: Readonly<Record<string, entries.FieldRule>> = {
  id: someText,
  name: someText,
  description: { ...anyText, required: true },
  tags: {
    expects: "an array of at least one string",
    required: true,
    fits: (value) => isTexts(value) && (value as readonly unknown[]).length > 0,
  },
  examples: texts,
  inputModes: texts,
  outputModes: texts,
};

function readSkills(list: readonly unknown[] | undefined, path: string) {
  const skills: CardSkill[] = [];
  const problems: string[] = [];
  for (const [index, json] of (list ?? []).entries()) {
    const why = entries.isObject(json) ? entries.brokenRule(json, skillRules) : "it must be an object";
    const skill = why === undefined ? pick(json as entries.JsonObject, Object.keys(skillRules)) : {};
    if (why !== undefined) problems.push(`Skipped skill ${index + 1} of ${path}: ${why}`);
    else if (skills.some(({ id }) => id === skill.id)) {
      problems.push(`Skipped skill ${index + 1} of ${path}: an earlier skill has its id`);
    } else skills.push(skill as unknown as CardSkill);
  }
  return { skills: list && skills, problems };
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** The fields named, without those that are absent or null. */
function pick(json: entries.JsonObject, fields: readonly string[]): entries.JsonObject {
  const found = fields.map((field) => [field, entries.fieldOf(json, field)]);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}
