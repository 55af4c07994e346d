import { command, constant, merge, message, object, option } from "@optique/core";
import { common, workspace } from "./common_arguments.ts";

/** `card`: whose view of our card. */
export interface CardArguments {
  readonly command: "card";
  readonly workspace: string;
  /** True: what callers of the workspace see; else what strangers see. */
  readonly callerView: boolean;
}

/** Parses `card`. */
export const cardParser = command(
  "card",
  merge(
    object({
      command: constant("card" as const),
      workspace,
      callerView: option("--caller-view", { description: message`Show what callers with a key see` }),
    }),
    common,
  ),
  { description: message`Shows our card as other agents see it` },
);
