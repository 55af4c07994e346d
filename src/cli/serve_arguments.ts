import { command, constant, merge, message, multiple, object, option, string } from "@optique/core";
import { common } from "./common_arguments.ts";

/** `serve`: the host. */
export interface ServeArguments {
  readonly command: "serve";
  /** Each a folder, or `name=folder`. At least one. */
  readonly workspaces: readonly string[];
  /** `--faux`, short for `--engine faux`. */
  readonly faux: boolean;
  readonly trustWorkspace: boolean;
}

/** Parses `serve`. */
export const serveParser = command(
  "serve",
  merge(
    object({
      command: constant("serve" as const),
      workspaces: multiple(
        option("--workspace", string({ metavar: "DIR" }), {
          description: message`A workspace's folder, or NAME=DIR to name it; may be given several times`,
        }),
        { min: 1, errors: { tooFew: message`Missing the folder: name it with --workspace DIR.` } },
      ),
      faux: option("--faux", { description: message`Short for --engine faux: scripted, no model` }),
      trustWorkspace: option("--trust-workspace", {
        description: message`Serve a folder whose state is tracked by git, or belongs to another user`,
      }),
    }),
    common,
  ),
  { description: message`Lets other agents talk to the assistant of a folder, until it is told to stop` },
);
