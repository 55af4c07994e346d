import { getLogger } from "@logtape/logtape";
import { openConfined } from "./confined_files.ts";
import type { Confinement } from "./confined_path.ts";

const logger = getLogger(["a2a", "workspace"]);

/**
 * Reads what a workspace tells its assistant: `AGENTS.md` (else `CLAUDE.md`), `PERSONA.md` and `MEMORY.md`, fresh, each
 * under a heading with its name, at most 64 KiB of each (seed 000 "Sessions"). Empty when there are none.
 *
 * Through `openConfined`: a file that is a link out of the root, or to something hidden, is as if it were missing, with a
 * warning. Rejects only when the disk fails.
 */
export async function readInstructions(within: Confinement): Promise<string> {
  const agents = await readInstruction(within, "AGENTS.md");
  const sections = [
    agents ?? await readInstruction(within, "CLAUDE.md"),
    await readInstruction(within, "PERSONA.md"),
    await readInstruction(within, "MEMORY.md"),
  ];
  return sections.filter((section) => section !== undefined).join("\n\n");
}

/** The first line of a file that is not blank; undefined when there is none. */
export type FirstLine = string | undefined;

/**
 * Reads the first line that is not blank of `PERSONA.md` or a `SKILL.md`, for a card that strangers see: of a regular
 * file in the root, through no link at all, within its first 64 KiB, without control characters (data-model.md 2).
 * Undefined for anything else. Rejects only when the disk fails.
 */
export async function readFirstLine(within: Confinement, path: string): Promise<FirstLine> {
  const text = await readHead(within, path, "none");
  for (const line of text?.text.split(/[\r\n\u0085\u2028\u2029]/) ?? []) {
    const clean = line.replace(controls, "").trim();
    if (clean !== "") return clean;
  }
  return undefined;
}

const headBytesMax = 64 * 1024;

/** C0, C1, and the controls that turn the direction of writing (threats.md). */
const controls = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

async function readInstruction(within: Confinement, name: string): Promise<string | undefined> {
  const head = await readHead(within, name, "inside");
  if (!head || head.text.trim() === "") return undefined;
  const note = head.isCut ? `\n(${name} goes on: only its first ${headBytesMax / 1024} KiB are here)` : "";
  return `# ${name}\n\n${head.text.trim()}${note}`;
}

async function readHead(within: Confinement, path: string, links: "inside" | "none") {
  const opened = await openConfined(within, path, { links });
  if (opened.kind === "refused") {
    if (within.disk.linkStampSync(`${within.root}/${path}`)) {
      logger.warning("Left {file} out: {why}", { file: path, why: opened.why });
    }
    return undefined;
  }
  using file = opened.file;
  const bytes = await file.readAt(0, headBytesMax);
  const isCut = file.stamp.bytes > bytes.length;
  // A character that the limit cuts in two is left out, and not shown as damage.
  return { text: new TextDecoder().decode(bytes, { stream: isCut }), isCut };
}
