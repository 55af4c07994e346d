import {
  argument,
  choice,
  command,
  constant,
  merge,
  message,
  object,
  option,
  optional,
  or,
  string,
  withDefault,
} from "@optique/core";
import { common, workspace } from "./common_arguments.ts";

/** `callers …`: who may call a workspace. */
export type CallersArguments =
  | CallersListArguments
  | CallersAddArguments
  | CallersRotateArguments
  | CallersSecretArguments
  | CallersRemoveArguments;

/** `callers list`, and `callers` alone. */
export interface CallersListArguments {
  readonly command: "callers list";
  readonly workspace: string;
}

/** `callers add`: the new entry. */
export interface CallersAddArguments {
  readonly command: "callers add";
  readonly workspace: string;
  readonly name: string;
  readonly note: string | undefined;
  readonly access: "read" | "write" | undefined;
  /** A time, or how long from now, as it was written. */
  readonly expires: string | undefined;
}

/** `callers rotate`: whose key, and how long the old one goes on. */
export interface CallersRotateArguments {
  readonly command: "callers rotate";
  readonly workspace: string;
  readonly name: string;
  /** A duration as it was written. */
  readonly overlap: string;
}

/** `callers secret`: whose. */
export interface CallersSecretArguments {
  readonly command: "callers secret";
  readonly workspace: string;
  readonly name: string;
}

/** `callers remove`: who. */
export interface CallersRemoveArguments {
  readonly command: "callers remove";
  readonly workspace: string;
  readonly name: string;
}

const name = argument(string({ metavar: "NAME" }), { description: message`The caller's name in callers.json` });

const list = merge(object({ command: constant("callers list" as const), workspace }), common);

const add = merge(
  object({
    command: constant("callers add" as const),
    workspace,
    name,
    note: optional(option("--note", string({ metavar: "TEXT" }), { description: message`Who that is, for you` })),
    access: optional(option("--access", choice(["read", "write"], { metavar: "ACCESS" }), {
      description: message`What its sessions may do to the workspace's own files; read when absent`,
    })),
    expires: optional(option("--expires", string({ metavar: "WHEN" }), {
      description: message`A time like 2027-01-31T12:00:00Z, or how long from now, like 30d; never when absent`,
    })),
  }),
  common,
);

const rotate = merge(
  object({
    command: constant("callers rotate" as const),
    workspace,
    name,
    overlap: withDefault(
      option("--overlap", string({ metavar: "DURATION" }), {
        description: message`How long the old key works beside the new one, like 1h`,
      }),
      "0",
    ),
  }),
  common,
);

const secret = merge(object({ command: constant("callers secret" as const), workspace, name }), common);

const remove = merge(object({ command: constant("callers remove" as const), workspace, name }), common);

/** Parses `callers` and its five commands. */
export const callersParser = command(
  "callers",
  or(
    command("list", list, { description: message`Lists who may call, with the end of each key, never a key` }),
    command("add", add, { description: message`Lets a caller in and prints its key, once` }),
    command("rotate", rotate, { description: message`Gives a caller a new key and prints it, once` }),
    command("secret", secret, {
      description: message`Prints the secret that pushes to a caller's webhooks are signed with`,
    }),
    command("remove", remove, { description: message`Shuts a caller out: what runs for it is cancelled` }),
    list,
    { errors: { noMatch: message`Missing the folder: name it with --workspace DIR.` } },
  ),
  { description: message`Says who may call a workspace; each edit holds at once, beside a running host too` },
);
