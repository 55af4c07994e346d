import { message, object, option, optional, type Parser, string, text } from "@optique/core";
import { settings } from "@/config.ts";

/** What every command takes. */
export interface CommonArguments {
  readonly json: boolean;
  /** `--config`. */
  readonly configFile: string | undefined;
  readonly flags: Readonly<Record<string, string>>;
}

/** Every row of the settings table as a flag; its value is judged with all the others, by `readConfig`. */
const settingFlags = object(Object.fromEntries(
  Object.values(settings).map(({ flag, doc }) => {
    const value = string({ metavar: "VALUE" });
    return [flag, optional(option(`--${flag}`, value, { description: message`${text(doc)}`, hidden: "usage" }))];
  }),
)) as unknown as Parser<"sync", Readonly<Record<string, string | undefined>>, unknown>;

/** Parses what every command takes; `settings` are the given rows of the settings table, by flag name. */
export const common = object({
  json: option("--json", { description: message`Print JSON, for a program to read` }),
  configFile: optional(
    option("--config", string({ metavar: "FILE" }), { description: message`Read settings from a JSON file` }),
  ),
  settings: settingFlags,
});

/** Parses `--workspace`: the folder of the one workspace that a command is about. */
export const workspace = option("--workspace", string({ metavar: "DIR" }), {
  description: message`The workspace's folder`,
});
