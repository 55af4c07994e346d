import { isoTime, type TimeMs } from "@/time/clock.ts";
import {
  addCaller,
  type CallersEditing,
  type KeyMade,
  type NewCaller,
  removeCaller,
  rotateCaller,
} from "@/workspace/callers_editor.ts";
import { type Caller, callersBytesMax, type CallersRead, parseCallers } from "@/workspace/callers_file.ts";
import { type EditRefused, readContent } from "@/workspace/entry_editor.ts";
import { readHost } from "@/workspace/host_file.ts";
import { readDurationMs, readMoment } from "@/workspace/json_entries.ts";
import { type WorkspacePaths, workspacePaths } from "@/workspace/workspace_paths.ts";
import type {
  CallersAddArguments,
  CallersArguments,
  CallersListArguments,
  CallersRotateArguments,
  CallersSecretArguments,
} from "./callers_arguments.ts";
import { keyHints, secretCommand } from "./callers_hints.ts";
import { callersSecret } from "./callers_secret.ts";
import { type CommandContext, type ExitCode, exitCodes } from "./command_context.ts";
import { localAddress } from "./curl_line.ts";
import { isOutputTerminal, programName, shellWord } from "./terminal.ts";

/**
 * Shows and edits `callers.json` (product.md §3). An edit holds at once, beside a running host too, and needs no right but
 * to the workspace.
 *
 * A new key stands alone on standard output, so that `KEY=$(… callers add bot …)` has it; it is in no file. What cannot be
 * done is one line on standard error and exit code 2, and leaves the file as it was.
 */
export async function callersCommand(args: CallersArguments, context: CommandContext): Promise<ExitCode> {
  const { output } = context;
  const paths = await pathsOf(args.workspace, context);
  if (typeof paths === "string") return refuse(paths, context);
  if (args.command === "callers list") return await list(args, { context, paths });
  if (args.command === "callers secret") return await callersSecret(args, { context, paths });
  const { disk, random, clock } = context;
  const edited = await edit(args, { disk, random, clock, path: paths.callersFile, lock: paths.editLock });
  if (edited.kind === "refused") return refuse(edited.why, context);
  if (edited.kind === "made") showKey(args, edited, context);
  else if (output.wantsJson) output.json({ name: args.name, removed: true });
  else output.line(`Removed ${args.name}`);
  return exitCodes.done;
}

type EditArguments = Exclude<CallersArguments, CallersListArguments | CallersSecretArguments>;

async function edit(args: EditArguments, file: CallersEditing) {
  switch (args.command) {
    case "callers add":
      return await add(args, file);
    case "callers rotate":
      return await rotate(args, file);
    case "callers remove":
      return await removeCaller(file, args.name);
    default:
      return args satisfies never;
  }
}

function refuse(why: string, { output }: CommandContext): ExitCode {
  output.error(why);
  return exitCodes.wrongUsage;
}

/** Where the workspace's files are; else why they are not touched, as a sentence. */
async function pathsOf(workspace: string, { disk }: CommandContext): Promise<WorkspacePaths | string> {
  if (disk.stampSync(workspace)?.kind !== "folder") {
    return `Cannot open ${workspace}: there is no such folder; make it, or name another with --workspace DIR`;
  }
  const paths = workspacePaths(await disk.realPath(workspace));
  const host = await readHost(disk, paths.hostFile);
  if (host.kind === "newer") {
    return `Cannot open ${workspace}: it has format ${host.format}, written by a newer version; update this one`;
  }
  return paths;
}

async function add(args: CallersAddArguments, file: CallersEditing): Promise<KeyMade | EditRefused> {
  const { name, note, access } = args;
  const now = file.clock.now();
  const expires = args.expires === undefined ? undefined : expiryOf(args.expires, now);
  if (args.expires !== undefined && expires === undefined) {
    const expected = "expected a time like 2027-01-31T12:00:00Z, or how long from now, like 30d";
    return { kind: "refused", why: `Cannot use "${args.expires}" as --expires: ${expected}` };
  }
  if (expires !== undefined && expires <= now) {
    return { kind: "refused", why: `Cannot use "${args.expires}" as --expires: it is over already; give a later time` };
  }
  const caller: NewCaller = {
    name,
    ...(note === undefined ? {} : { note }),
    ...(access === undefined ? {} : { access }),
    ...(expires === undefined ? {} : { expires: isoTime(expires) }),
  };
  return await addCaller(file, caller);
}

/** A bare number is neither: `2027` could be meant as a year, and would be half an hour. */
function expiryOf(text: string, now: TimeMs): TimeMs | undefined {
  const fromNowMs = /^\d+$/.test(text) ? undefined : readDurationMs(text);
  return fromNowMs === undefined ? readMoment(text) : now + fromNowMs as TimeMs;
}

async function rotate(args: CallersRotateArguments, file: CallersEditing): Promise<KeyMade | EditRefused> {
  const overlapMs = readDurationMs(args.overlap);
  if (overlapMs === undefined) {
    const expected = "expected a duration like 30m, 1d, 00:30:00 or seconds";
    return { kind: "refused", why: `Cannot use "${args.overlap}" as --overlap: ${expected}` };
  }
  return await rotateCaller(file, args.name, { overlapMs });
}

function showKey(args: EditArguments, { key }: KeyMade, { output, config }: CommandContext): void {
  const { name, workspace } = args;
  if (output.wantsJson) return output.json({ name, key: key.reveal(), keyHint: key.hint() });
  output.line(key.reveal());
  if (!isOutputTerminal()) return;
  const hints = keyHints({ name, workspace, program: programName() }, {
    key: key.reveal(),
    address: localAddress(config.listen.value),
    ...(args.command === "callers rotate" && { rotated: { overlapMs: readDurationMs(args.overlap) ?? 0 } }),
  });
  output.line(output.dim(hints.before));
  output.line(hints.try);
  output.line(output.dim(hints.after));
}

async function list(
  { workspace }: CallersListArguments,
  { context, paths }: { readonly context: CommandContext; readonly paths: WorkspacePaths },
): Promise<ExitCode> {
  const { output, clock, disk } = context;
  const read = parseCallers(await readContent(disk, paths.callersFile, callersBytesMax), paths.callersFile);
  if (read.malformed) return refuse(read.problems[0]!, context);
  if (output.wantsJson) {
    output.json({ callers: read.callers.map(jsonOf), skipped: read.skipped });
    return exitCodes.done;
  }
  const table = tableOf(read, clock.now());
  for (const line of table) output.line(line);
  for (const problem of read.problems) output.error(`${problem}; change or remove it`);
  const hinted = { name: "NAME", workspace, program: programName() };
  if (table.length > 0) output.line(output.dim(`Pushes are signed; a caller's secret: ${secretCommand(hinted)}`));
  const isNobody = table.length === 0 && read.problems.length === 0;
  const adding = `${programName()} callers add NAME --workspace ${shellWord(workspace)}`;
  if (isNobody) output.line(`No callers; let one in with: ${adding}`);
  return exitCodes.done;
}

/** Name, end of the key, access, expiry, note: a line a caller, in columns. */
function tableOf({ callers }: CallersRead, now: TimeMs): readonly string[] {
  const rows = callers.map((caller) => {
    const { by, name, keyHint, access, note } = caller;
    const key = by.kind === "workspace" ? `@${by.workspace}` : keyHint === undefined ? "key" : `…${keyHint}`;
    return [name, key, access, expiryWords(caller, now), (note ?? "").replaceAll(/\s+/g, " ")];
  });
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd());
}

function expiryWords({ by, expires }: Caller, now: TimeMs): string {
  const previous = by.kind === "key" ? by.previous : undefined;
  const rotating = previous && previous.until > now ? `, old key until ${isoTime(previous.until)}` : "";
  if (expires === undefined) return `never expires${rotating}`;
  return `${expires > now ? "expires" : "expired"} ${isoTime(expires)}${rotating}`;
}

function jsonOf({ name, by, keyHint, access, network, mayDelegate, expires, note, limits }: Caller): unknown {
  const previous = by.kind === "key" ? by.previous : undefined;
  return {
    name,
    workspace: by.kind === "workspace" ? by.workspace : null,
    keyHint: keyHint ?? null,
    access,
    network,
    mayDelegate,
    expires: expires === undefined ? null : isoTime(expires),
    previousUntil: previous === undefined ? null : isoTime(previous.until),
    note: note ?? null,
    limits,
  };
}
