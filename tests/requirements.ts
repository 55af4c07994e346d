import { boxRequirements } from "@tests/requirements/box.ts";
import { cardRequirements } from "@tests/requirements/cards.ts";
import { commandLineRequirements } from "@tests/requirements/command_line.ts";
import { downloadRequirements } from "@tests/requirements/downloads.ts";
import { engineRequirements } from "@tests/requirements/engines.ts";
import { fileRequirements } from "@tests/requirements/files.ts";
import { hostRequirements } from "@tests/requirements/host.ts";
import { isolationRequirements } from "@tests/requirements/isolation.ts";
import { legacyRequirements } from "@tests/requirements/legacy.ts";
import { lifeCycleRequirements } from "@tests/requirements/life_cycle.ts";
import { limitRequirements } from "@tests/requirements/limits.ts";
import { pushRequirements } from "@tests/requirements/pushes.ts";
import { outboundRequirements } from "@tests/requirements/outbound.ts";
import { runRequirements } from "@tests/requirements/runs.ts";
import { settingRequirements } from "@tests/requirements/settings.ts";
import { startedProgramRequirements } from "@tests/requirements/started_program.ts";
import { storeRequirements } from "@tests/requirements/store.ts";
import { wireRequirements } from "@tests/requirements/wire.ts";

/** One promise of the design, which at least one test must cite by its id: `subject() does x [§4 edits-hold-at-once]`. */
export interface Requirement {
  /** Where it stands and which it is there: `§5.5 slug`, `DM6 slug`, `SM1 T6`, `SM8 3`, `case 37`. */
  readonly id: string;
  /** What is promised, as a sentence without a full stop. */
  readonly promise: string;
  /** The document and section, made from the id. */
  readonly source: string;
}

/**
 * Every promise made so far. A part adds its own to the list of its theme, or a list of a new theme here.
 *
 * Ids never change their meaning: a promise that is given up is removed, a new one gets a new slug.
 */
export const requirements: readonly Requirement[] = [
  ...commandLineRequirements,
  ...cardRequirements,
  ...hostRequirements,
  ...legacyRequirements,
  ...settingRequirements,
  ...limitRequirements,
  ...fileRequirements,
  ...isolationRequirements,
  ...boxRequirements,
  ...downloadRequirements,
  ...storeRequirements,
  ...lifeCycleRequirements,
  ...runRequirements,
  ...engineRequirements,
  ...pushRequirements,
  ...wireRequirements,
  ...outboundRequirements,
  ...startedProgramRequirements,
].map(([id, promise]) => ({ id, promise, source: sourceOf(id) }));

function sourceOf(id: string): string {
  const [place, rest] = [id.slice(0, id.indexOf(" ")), id.slice(id.indexOf(" ") + 1)];
  if (place === "case") return `known fault ${rest} of other implementations`;
  if (place.startsWith("DM")) return `data-model.md ${place.slice(2)}`;
  if (place.startsWith("SM")) return `state-machines.md ${place.slice(2)}`;
  return `product.md ${place}`;
}
