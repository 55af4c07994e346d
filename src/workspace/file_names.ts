import { foldName } from "@/path_pattern.ts";
import { sha256Hex } from "./sha256.ts";

/** The longest name of a received or sent file, in bytes of UTF-8 (data-model.md 11). */
export const fileNameBytesMax = 120;

/** Whose folder the name is for. */
export interface CleanNameOptions {
  /** True: names by which tools of the owner take orders get the prefix `received-` (threats.md). */
  readonly received?: boolean;
}

/**
 * Makes a file name of what someone else sent as one (data-model.md 11): the part behind the last slash of either kind,
 * letters, digits, space and `._()-` with `_` for all else, no leading dot, no dot or space at the end, no device of
 * Windows, at most 120 bytes with its extension kept. Never empty: `file` when nothing is left.
 */
export function cleanFileName(name: string, { received = false }: CleanNameOptions = {}): string {
  const base = name.slice(0, charsMax).normalize("NFC").split(/[/\\]/).findLast((part) => part.trim() !== "") ?? "";
  const clean = base.replace(/[^\p{L}\p{N} ._()-]/gu, "_").replace(/^[. ]+/, "").replace(/[. ]+$/, "");
  const safe = isDeviceName(clean) ? `_${clean}` : clean === "" ? "file" : clean;
  return shorten(received && isControlName(base, safe) ? `received-${safe}` : safe, "");
}

/**
 * Gives a clean name that is not in `taken`, compared as file systems without case do: `report.pdf`, `report-2.pdf`,
 * `report-3.pdf`. The caller adds the result to what is taken.
 */
export function uniqueFileName(name: string, taken: Iterable<string>): string {
  const used = new Set([...taken].map(foldName));
  let unique = name;
  for (let count = 2; used.has(foldName(unique)); count++) unique = shorten(name, `-${count}`);
  return unique;
}

/**
 * The name of the folder for a remote's task id: the id itself when it is `[A-Za-z0-9_-]{1,100}` and no device of Windows,
 * else `h-<32 hex of sha256(agent, id)>` (data-model.md 0).
 */
export function remoteTaskFolder(agent: string, taskId: string): string {
  if (/^[A-Za-z0-9_-]{1,100}$/.test(taskId) && !isDeviceName(taskId)) return taskId;
  return `h-${sha256Hex(`${agent}\n${taskId}`).slice(0, 32)}`;
}

const charsMax = 4096;
const extensionBytesMax = 20;

/** Windows opens a device for these, whatever the extension; its superscript digits count. */
function isDeviceName(name: string): boolean {
  const stem = name.split(".", 1)[0]!.trim();
  return /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])$/i.test(stem);
}

/** Files that agents, editors and shells read as instructions or settings when they stand in a folder. */
const controlNames: ReadonlySet<string> = new Set([
  ...["agents.md", "agents.override.md", "agent.md", "claude.md", "claude.local.md", "gemini.md", "skill.md"],
  ...["persona.md", "memory.md", "soul.md", "copilot-instructions.md", "mcp.json", "opencode.json"],
  ...["cursorrules", "windsurfrules", "clinerules", "goosehints", "envrc", "env", "gitconfig", "gitmodules"],
  ...["gitattributes", "bashrc", "bash_profile", "profile", "zshrc", "zshenv", "npmrc", "netrc"],
]);

/** Whether the name as sent, or as cleaned, is one of those; a leading dot that was taken off does not hide it. */
function isControlName(sent: string, clean: string): boolean {
  return [sent, clean].some((name) => controlNames.has(foldName(name).replace(/^[. ]+/, "").replace(/[. ]+$/, "")));
}

/** The name with `suffix` before its extension, cut to the limit between two characters. */
function shorten(name: string, suffix: string): string {
  const dot = name.lastIndexOf(".");
  const isExtension = dot > 0 && byteLength(name.slice(dot)) <= extensionBytesMax;
  const extension = isExtension ? name.slice(dot) : "";
  const whole = isExtension ? name.slice(0, dot) : name;
  let stem = "";
  let left = fileNameBytesMax - byteLength(extension) - byteLength(suffix);
  for (const character of whole) {
    left -= byteLength(character);
    if (left < 0) break;
    stem += character;
  }
  return `${stem === whole ? stem : stem.replace(/[. ]+$/, "")}${suffix}${extension}`;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
