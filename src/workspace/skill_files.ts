import type { Confinement } from "./confined_path.ts";
import { isPathTrouble } from "./disk.ts";
import { readHead } from "./file_head.ts";
import { readFrontMatter } from "./front_matter.ts";
import { firstPlainLine, plainLine } from "./plain_line.ts";

/** A skill that was found in a workspace, in words for a stranger: one line each, without control characters. */
export interface FoundSkill {
  /** The name of its folder. No two skills share one. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/**
 * Finds the skills of a workspace: a `SKILL.md` in each folder of `skills/`, then of `.agents/skills/`, in the order of names,
 * at most 100 (product.md §5.3).
 *
 * Name and description come from the front matter; without them they are the folder's name and the first line. A file is
 * read only when it is a regular one and no name on the way to it is a link. Of two folders with one name the first counts.
 * Read fresh; rejects only when the disk fails.
 */
export async function readSkillFiles(within: Confinement): Promise<readonly FoundSkill[]> {
  const skills = new Map<string, FoundSkill>();
  for (const parent of skillFolders) {
    for (const folder of await foldersIn(within, parent)) {
      if (skills.size === skillsMax) break;
      const id = plainLine(folder, idCharsMax);
      const skill = id === "" || skills.has(id) ? undefined : await readSkill(within, `${parent}/${folder}`, id);
      if (skill !== undefined) skills.set(id, skill);
    }
  }
  return [...skills.values()];
}

const skillFolders = ["skills", ".agents/skills"];
const skillsMax = 100;
/** Folders that are looked into; a folder without a `SKILL.md` costs a look, too. */
const foldersMax = 500;
const idCharsMax = 100;
const nameCharsMax = 100;
const descriptionCharsMax = 1024;

async function foldersIn({ disk, root }: Confinement, parent: string): Promise<readonly string[]> {
  const names = parent.split("/");
  const paths = names.map((_, index) => [root, ...names.slice(0, index + 1)].join("/"));
  if (!paths.every((path) => disk.linkStampSync(path)?.kind === "folder")) return [];
  const entries = await disk.list(paths.at(-1)!).catch((error) => {
    if (isPathTrouble(error)) return []; // a folder that we may not look into has no skills for others
    throw error;
  });
  return entries.filter(({ kind }) => kind === "folder").map(({ name }) => name).sort().slice(0, foldersMax);
}

async function readSkill(within: Confinement, folder: string, id: string): Promise<FoundSkill | undefined> {
  const head = await readHead(within, `${folder}/SKILL.md`, { links: "none" });
  if (head === undefined) return undefined;
  const { fields, body } = readFrontMatter(head.text);
  const name = plainLine(fields.get("name") ?? "", nameCharsMax) || id;
  const said = plainLine(fields.get("description") ?? "", descriptionCharsMax);
  return { id, name, description: said || plainLine(firstPlainLine(body) ?? "", descriptionCharsMax) || name };
}
