import { readConfig, readEnvironment } from "@/config.ts";
import { startLog } from "@/log.ts";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk, type Disk } from "@/workspace/disk.ts";
import { type Arguments, parseArguments } from "./arguments.ts";
import { type CommandContext, type ExitCode, exitCodes } from "./command_context.ts";
import { createOutput, type Output } from "./output.ts";
import { isOutputTerminal } from "./terminal.ts";

/**
 * Runs the command line and ends the process with its exit code, whatever is still pending.
 *
 * Something may be: before Deno 2.7 a try for a lock that another process holds goes on in the system as long as that
 * process lives (compile.md), and would keep this one from ending by itself.
 */
export async function runToExit(args: readonly string[], hostUrl: URL): Promise<never> {
  Deno.exit(await main(args, hostUrl));
}

/**
 * Runs the command line and returns the exit code (product.md §3). Never throws: a bug is 70 and one line. `hostUrl`: the module
 * that `serve` runs as the host's thread.
 */
export async function main(args: readonly string[], hostUrl: URL): Promise<number> {
  const plain = createOutput({ wantsJson: false, hasColour: false });
  try {
    const parsed = parseArguments(args, { print: plain.line, complain: plain.error });
    if (parsed.command === "nothing") return parsed.exitCode;
    const hasColour = isOutputTerminal() && !Deno.noColor;
    return await runCommand(parsed, { output: createOutput({ wantsJson: parsed.json, hasColour }), hostUrl });
  } catch (error) {
    plain.error(`The program broke: ${error instanceof Error ? error.stack ?? error.message : error}`);
    return exitCodes.broke;
  }
}

async function runCommand(
  args: Arguments,
  { output, hostUrl }: { output: Output; hostUrl: URL },
): Promise<ExitCode> {
  const disk = createDisk(systemClock);
  const file = args.configFile === undefined ? undefined : readConfigFile(disk, args.configFile);
  if (file?.text === undefined && file !== undefined) {
    output.error(`Cannot read ${file.path}: there is no such file, or it is over 1 MiB`);
    return exitCodes.wrongUsage;
  }
  const read = readConfig({ flags: args.flags, environment: readEnvironment(), file });
  if (read.kind === "problems") {
    for (const problem of read.problems) output.error(problem);
    return exitCodes.wrongUsage;
  }
  const { config } = read;
  // Who tries a message wants to read what happens, not how: the lines of a host's life are for `serve`.
  const isQuiet = args.command === "try" && config.logLevel.source === "default";
  const level = isQuiet ? "warning" : config.logLevel.value;
  using _log = startLog({ level, form: Deno.stderr.isTerminal() ? "text" : "json" });
  return await dispatch(args, { config, output, hostUrl, disk, clock: systemClock, random: systemRandom });
}

/** Each command is loaded when it is asked for: the parts of all of them would be a quarter of the time of a start. */
async function dispatch(args: Arguments, context: CommandContext): Promise<ExitCode> {
  switch (args.command) {
    case "serve":
      return await (await import("./serve_command.ts")).serveCommand(args, context);
    case "try":
      return await (await import("./try_command.ts")).tryCommand(args, context);
    case "tasks list":
      return await (await import("./tasks_command.ts")).tasksListCommand(args, context);
    case "tasks show":
      return await (await import("./tasks_command.ts")).tasksShowCommand(args, context);
    case "callers list":
    case "callers add":
    case "callers rotate":
    case "callers secret":
    case "callers remove":
      return await (await import("./callers_command.ts")).callersCommand(args, context);
    case "card":
      return await (await import("./card_command.ts")).cardCommand(args, context);
    case "config":
      return (await import("./config_command.ts")).configCommand(context);
    default:
      return args satisfies never;
  }
}

const configBytesMax = 1024 * 1024;

function readConfigFile(
  disk: Disk,
  path: string,
): { readonly path: string; readonly text: string } | { readonly path: string; readonly text?: undefined } {
  const stamp = disk.stampSync(path);
  if (stamp?.kind !== "file" || stamp.bytes > configBytesMax) return { path };
  using file = disk.openReadSync(path);
  return { path, text: new TextDecoder().decode(file.readSync(configBytesMax)) };
}
