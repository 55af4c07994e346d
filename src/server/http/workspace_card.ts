import type { AgentCardJson } from "@/protocol/agent_card.ts";
import type { Random } from "@/random.ts";
import type { Clock } from "@/time/clock.ts";
import { CardFile } from "@/workspace/card_file.ts";
import type { Confinement } from "@/workspace/confined_path.ts";
import type { Disk } from "@/workspace/disk.ts";
import { readFirstLine } from "@/workspace/instruction_files.ts";
import { readSkillFiles } from "@/workspace/skill_files.ts";
import type { WorkspacePaths } from "@/workspace/workspace_paths.ts";
import { type CardSettings, extendedCard } from "./agent_card.ts";

/** Whose card it is. */
export interface WorkspaceCardOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  readonly paths: WorkspacePaths;
}

/** The card that the callers of one workspace see, read fresh at each use: an edit is on the next one. */
export class WorkspaceCard {
  readonly #file: CardFile;
  readonly #within: Confinement;

  constructor({ disk, clock, random, paths }: WorkspaceCardOptions) {
    this.#file = new CardFile({ disk, clock, path: paths.cardFile });
    this.#within = { disk, random, root: paths.root, hidden: [paths.volcanic] };
  }

  /** Reads the card with our endpoints below `baseUrl`. Rejects only when the disk fails. */
  async read(baseUrl: string, settings: CardSettings): Promise<AgentCardJson> {
    const { card: overrides } = this.#file.read();
    const persona = overrides?.description?.trim() ? undefined : await readFirstLine(this.#within, "PERSONA.md");
    const skills = overrides?.skills === undefined ? await readSkillFiles(this.#within) : [];
    return extendedCard(baseUrl, settings, { overrides, persona, skills });
  }
}
