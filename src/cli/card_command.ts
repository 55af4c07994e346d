import type { AgentCardJson } from "@/protocol/agent_card.ts";
import { type CardSettings, publicCard } from "@/server/http/agent_card.ts";
import { urlText } from "@/server/http/base_url.ts";
import { WorkspaceCard } from "@/server/http/workspace_card.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";
import type { CardArguments } from "./card_arguments.ts";
import { type CommandContext, type ExitCode, exitCodes } from "./command_context.ts";
import { localAddress } from "./curl_line.ts";

/**
 * Shows the card as it would be served now, beside a running host too. Without `A2A__PublicUrl` a served card has the address
 * that its reader asked for; here it is that of the listener.
 */
export async function cardCommand(args: CardArguments, context: CommandContext): Promise<ExitCode> {
  const { config, output, disk } = context;
  if (disk.stampSync(args.workspace)?.kind !== "folder") {
    output.error(`Cannot read ${args.workspace}: there is no such folder; name the workspace with --workspace DIR`);
    return exitCodes.wrongUsage;
  }
  const { publicUrl, listen, cardName, cardDescription } = config;
  const settings: CardSettings = { name: cardName.value, description: cardDescription.value };
  const base = publicUrl.value === undefined ? localAddress(listen.value) : urlText(publicUrl.value);
  const paths = workspacePaths(await disk.realPath(args.workspace));
  const card = args.callerView
    ? await new WorkspaceCard({ ...context, paths }).read(base, settings)
    : publicCard(base, settings);
  if (output.wantsJson) output.json(card);
  else for (const line of describe(card)) output.line(line);
  return exitCodes.done;
}

function* describe({ name, description, version, provider, capabilities, ...card }: AgentCardJson): Generator<string> {
  yield `name      ${name}`;
  yield `about     ${description}`;
  yield `version   ${version}`;
  if (provider !== undefined) yield `provider  ${provider.organization}, ${provider.url}`;
  const { streaming, pushNotifications } = capabilities;
  yield `can       ${[streaming && "streaming", pushNotifications && "pushes"].filter(Boolean).join(", ") || "answer"}`;
  for (const { url, protocolBinding, protocolVersion } of card.supportedInterfaces) {
    yield `address   ${url}  ${protocolBinding} ${protocolVersion}`;
  }
  for (const skill of card.skills) yield `skill     ${skill.id}: ${skill.description}`;
}
