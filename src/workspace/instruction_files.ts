import type { Confinement } from "./confined_path.ts";
import { headBytesMax, readHead } from "./file_head.ts";
import { firstPlainLine } from "./plain_line.ts";

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
 * Reads the first line that is not blank of `PERSONA.md`, for a card that strangers see: of a regular file in the root,
 * through no link at all, within its first 64 KiB, without control characters (data-model.md 2). Undefined for anything
 * else. Rejects only when the disk fails.
 */
export async function readFirstLine(within: Confinement, path: string): Promise<FirstLine> {
  const head = await readHead(within, path, { links: "none" });
  return head && firstPlainLine(head.text);
}

async function readInstruction(within: Confinement, name: string): Promise<string | undefined> {
  const head = await readHead(within, name, { links: "inside" });
  if (!head || head.text.trim() === "") return undefined;
  const note = head.isCut ? `\n(${name} goes on: only its first ${headBytesMax / 1024} KiB are here)` : "";
  return `# ${name}\n\n${head.text.trim()}${note}`;
}
