import {
  argument,
  choice,
  command,
  constant,
  type InferValue,
  integer,
  merge,
  message,
  multiple,
  object,
  option,
  optional,
  or,
  string,
  withDefault,
} from "@optique/core";
import { runParser } from "@optique/core/facade";
import { version } from "@/version.ts";
import { type CallersArguments, callersParser } from "./callers_arguments.ts";
import { type CardArguments, cardParser } from "./card_arguments.ts";
import { common, type CommonArguments, workspace } from "./common_arguments.ts";
import { type ServeArguments, serveParser } from "./serve_arguments.ts";

/** A command line that was understood. `flags` are the settings that it sets, by flag name. */
export type Arguments =
  & (
    | ServeArguments
    | TryArguments
    | TasksListArguments
    | TasksShowArguments
    | CallersArguments
    | CardArguments
    | ConfigArguments
  )
  & CommonArguments;

/** `try`: one message, or a conversation, through a folder. */
export interface TryArguments {
  readonly command: "try";
  readonly workspace: string;
  readonly words: readonly string[];
  readonly caller: string;
  readonly contextId: string | undefined;
  readonly taskId: string | undefined;
  readonly files: readonly string[];
}

/** `tasks list`: the filter and how many. */
export interface TasksListArguments {
  readonly command: "tasks list";
  readonly workspace: string;
  readonly caller: string | undefined;
  readonly contextId: string | undefined;
  readonly state: string | undefined;
  readonly limit: number;
}

/** `tasks show`: which task; the beginning of its id is enough. */
export interface TasksShowArguments {
  readonly command: "tasks show";
  readonly workspace: string;
  readonly id: string;
}

/** `config`: nothing of its own. */
export interface ConfigArguments {
  readonly command: "config";
}

/** There is nothing to run: help was asked for (0) or the command line is wrong (2); all is said already. */
export interface NothingToRun {
  readonly command: "nothing";
  readonly exitCode: number;
}

/** Reads the command line. Prints help and complaints through `print` and `complain`, a text of several lines each. */
export function parseArguments(
  args: readonly string[],
  { print, complain }: { print: (text: string) => void; complain: (text: string) => void },
): Arguments | NothingToRun {
  const nothing = (exitCode: number): NothingToRun => ({ command: "nothing", exitCode });
  // What the callbacks return is what comes back, which the types of the library leave out.
  const parsed = runParser(commands, "volcanic-a2a", withCommand(args), {
    help: { option: true, onShow: (exitCode) => nothing(exitCode ?? 0) },
    version: { value: version, option: true, onShow: () => nothing(0) },
    completion: { command: { names: ["completions"] }, onShow: () => nothing(0) },
    onError: () => nothing(2),
    aboveError: "none",
    showDefault: true,
    stdout: print,
    stderr: complain,
  }) as InferValue<typeof commands> | NothingToRun;
  if (parsed.command === "nothing") return parsed;
  const { json, configFile, settings: given, ...rest } = parsed;
  const flags: Record<string, string> = {};
  for (const [flag, value] of Object.entries(given)) if (value !== undefined) flags[flag] = value;
  return { json, configFile, flags, ...rest } as Arguments;
}

/** No command word means `serve` (product.md §3). */
function withCommand(args: readonly string[]): readonly string[] {
  const [first] = args;
  const isOption = first?.startsWith("-") && !/^(--help|--version|-h)$/.test(first);
  return isOption ? ["serve", ...args] : args;
}

const tryCommand = command(
  "try",
  merge(
    object({
      command: constant("try" as const),
      words: multiple(argument(string({ metavar: "MESSAGE" }), {
        description: message`What to say; without it, what comes on standard input`,
      })),
      workspace: withDefault(workspace, "try-workspace"),
      caller: withDefault(
        option("--caller", string({ metavar: "NAME" }), { description: message`Who says it` }),
        "try",
      ),
      contextId: optional(
        option("--context", string({ metavar: "ID" }), { description: message`Go on in this conversation` }),
      ),
      taskId: optional(
        option("--task", string({ metavar: "ID" }), { description: message`Answer the question of this task` }),
      ),
      files: multiple(option("--file", string({ metavar: "FILE" }), { description: message`Send this file along` })),
    }),
    common,
  ),
  { description: message`Runs a message through the assistant of a folder, here and now, and prints what happens` },
);

const tasksCommand = command(
  "tasks",
  or(
    command(
      "list",
      merge(
        object({
          command: constant("tasks list" as const),
          workspace,
          caller: optional(
            option("--caller", string({ metavar: "NAME" }), { description: message`Only this caller's` }),
          ),
          contextId: optional(
            option("--context", string({ metavar: "ID" }), { description: message`Only of this conversation` }),
          ),
          state: optional(option(
            "--state",
            choice(["submitted", "working", "input-required", "completed", "failed", "canceled", "rejected"], {
              metavar: "STATE",
            }),
            { description: message`Only in this state` },
          )),
          limit: withDefault(
            option("--limit", integer({ min: 1, metavar: "N" }), { description: message`How many at most` }),
            50,
          ),
        }),
        common,
      ),
      { description: message`Lists the stored tasks, newest first, beside a running host too` },
    ),
    command(
      "show",
      merge(
        object({
          command: constant("tasks show" as const),
          workspace,
          id: argument(string({ metavar: "ID" }), {
            description: message`The task, or the first characters of its id`,
          }),
        }),
        common,
      ),
      { description: message`Shows one stored task` },
    ),
  ),
  { description: message`Looks at the tasks of a workspace` },
);

const configCommand = command("config", merge(object({ command: constant("config" as const) }), common), {
  description: message`Prints every setting, its value and where it comes from`,
});

const commands = or(serveParser, tryCommand, tasksCommand, callersParser, cardParser, configCommand);
