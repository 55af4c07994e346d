import { isoTime } from "@/time/clock.ts";
import { callersBytesMax, type CallersRead, parseCallers } from "@/workspace/callers_file.ts";
import { type EditRefused, readContent, refused } from "@/workspace/entry_editor.ts";
import { type WebhookSecrets, webhookSecrets } from "@/workspace/webhook_keys.ts";
import { requireWebhookSecret } from "@/workspace/webhook_secret_file.ts";
import type { WorkspacePaths } from "@/workspace/workspace_paths.ts";
import type { CallersSecretArguments } from "./callers_arguments.ts";
import { secretHint } from "./callers_hints.ts";
import { type CommandContext, type ExitCode, exitCodes } from "./command_context.ts";
import { isOutputTerminal } from "./terminal.ts";

/**
 * Prints the secret that pushes of a caller are signed with (product.md §5.7), alone on standard output, so that
 * `SECRET=$(… callers secret bot …)` has it. The workspace's own is made when there is none yet; nothing else is written.
 */
export async function callersSecret(
  { name }: CallersSecretArguments,
  { context, paths }: { readonly context: CommandContext; readonly paths: WorkspacePaths },
): Promise<ExitCode> {
  const { output } = context;
  const secrets = await secretsOf(name, { context, paths });
  if ("kind" in secrets) {
    output.error(secrets.why);
    return exitCodes.wrongUsage;
  }
  const { secret, previous } = secrets;
  if (output.wantsJson) output.json(jsonOf(name, secrets));
  else output.line(secret.reveal());
  if (!output.wantsJson && isOutputTerminal()) output.line(output.dim(secretHint(previous?.until)));
  return exitCodes.done;
}

async function secretsOf(
  name: string,
  { context, paths }: { readonly context: CommandContext; readonly paths: WorkspacePaths },
): Promise<WebhookSecrets | EditRefused> {
  const { disk, random, clock } = context;
  const read = parseCallers(await readContent(disk, paths.callersFile, callersBytesMax), paths.callersFile);
  const caller = read.callers.find((one) => one.name === name);
  if (caller === undefined) return noSuchCaller(name, read, paths);
  const made = await requireWebhookSecret({ disk, random, path: paths.webhookSecret, lock: paths.editLock });
  switch (made.kind) {
    case "busy":
      return refused(`Cannot make ${paths.webhookSecret}: another process holds ${paths.editLock}; try again`);
    case "unusable":
      return refused(`Cannot use ${paths.webhookSecret}: ${made.why}; ${made.cure}`);
    case "master":
      return await webhookSecrets(caller, { master: made.master, now: clock.now() });
    default:
      return made satisfies never;
  }
}

function noSuchCaller(name: string, { malformed, problems, skipped }: CallersRead, paths: WorkspacePaths): EditRefused {
  if (malformed) return refused(problems[0]!);
  const bad = skipped.find((entry) => entry.name === name);
  if (bad !== undefined) {
    return refused(
      `Cannot show the secret of "${name}": its entry of ${paths.callersFile} is bad: ${bad.why}; repair it`,
    );
  }
  return refused(`Cannot show the secret of "${name}": there is no such caller; \`callers list\` shows the names`);
}

function jsonOf(name: string, { secret, previous }: WebhookSecrets): unknown {
  return {
    name,
    secret: secret.reveal(),
    previous: previous === undefined ? null : { secret: previous.secret.reveal(), until: isoTime(previous.until) },
  };
}
