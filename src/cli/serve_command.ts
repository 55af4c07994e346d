import { type Config, readVariable, type SettingName, settings } from "@/config.ts";
import type { EngineKind } from "@/engine/engine.ts";
import type { HostConfig, HostReport } from "@/host/messages.ts";
import type { NamedWorkspace } from "@/workspace/workspace_names.ts";
import { urlText } from "@/server/http/base_url.ts";
import { readCaFile } from "./ca_file.ts";
import { type CommandContext, type ExitCode, exitCodes } from "./command_context.ts";
import { probeBox } from "./box/box_probe.ts";
import { ProgramStarter } from "./box/program_starter.ts";
import { chooseEngine } from "./engine_choice.ts";
import { superviseHost } from "./host_supervisor.ts";
import { liveLine } from "./live_line.ts";
import { mainServices } from "./main_services.ts";
import type { ServeArguments } from "./serve_arguments.ts";
import { type BoxReport, reportJson, reportLines } from "./serve_report.ts";
import { listenToSignals, programName } from "./terminal.ts";
import { readWorkspaces } from "./workspace_arguments.ts";
import { trustProblem } from "./workspace_trust.ts";

/**
 * Serves workspaces until a signal: other agents may talk to the assistants in them (product.md §3).
 *
 * This thread reads the settings, looks at the folders, and has the signals and the terminal; everything else is done by the
 * host in a thread of its own, which has the rights of the workspaces and no others.
 */
export async function serveCommand(args: ServeArguments, context: CommandContext): Promise<ExitCode> {
  const { config, output, disk, clock, hostUrl } = context;
  const refuse = (why: string) => {
    output.error(why);
    return exitCodes.wrongUsage;
  };
  const chosen = chooseEngine(args.faux, config);
  if (chosen.kind === "problem") return refuse(chosen.message);
  const { engine } = chosen;
  if (!config.enabled.value) {
    return refuse(
      "Cannot serve with Enabled=false: without the endpoints this build has nothing to do; remove the setting",
    );
  }
  const read = await readWorkspaces(args.workspaces, disk);
  if (read.kind === "problem") return refuse(read.message);
  const { workspaces } = read;
  if (!args.trustWorkspace) {
    const problems = await Promise.all(
      workspaces.map((one) => trustProblem(one.folder, { disk, clock, uid: Deno.uid() })),
    );
    const problem = problems.find((problem) => problem !== undefined);
    if (problem !== undefined) return refuse(problem);
  }
  const ca = readCaFile(config.caFile.value, disk);
  if (ca.kind === "problem") return refuse(ca.message);
  const isTerminal = Deno.stderr.isTerminal();
  const box = config.bash.value === "boxed" ? await probeBox({ ...context, folder: "/tmp" }) : unsandboxed;
  // Killed whatever ends the host: its thread may be stuck or gone.
  await using programs = box.kind === "none" ? undefined : new ProgramStarter({
    ...{ ...context, workspaces, box: box.kind === "box" ? box : undefined },
  });
  return await superviseHost({
    ...{
      hostUrl,
      clock,
      listenToSignals,
      answer: mainServices({ config, disk, readVariable, programs }),
      complain: output.error,
    },
    config: hostConfig(workspaces, {
      ...{ engine, config, isTerminal, caCerts: ca.caCerts },
      runsPrograms: programs !== undefined,
    }),
    graceMs: config.drainMs.value,
    onStarted: (report) => showReport(report, { engine, box }, context),
    onActivity(workspace, activity) {
      const whose = workspaces.length === 1 ? activity.caller : `${workspace}/${activity.caller}`;
      if (isTerminal && !output.wantsJson) output.note(output.dim(liveLine(whose, activity)));
    },
    onStopping() {
      if (isTerminal) output.note(`Ending: runs get ${config.drainMs.text} more; another signal ends at once`);
    },
  });
}

const unsandboxed = { kind: "unsandboxed" } as const;

function hostConfig(
  workspaces: readonly NamedWorkspace[],
  { config, isTerminal, ...more }:
    & { config: Config; isTerminal: boolean }
    & Pick<HostConfig, "engine" | "caCerts" | "runsPrograms">,
): HostConfig {
  const given: Record<string, string> = {};
  for (const name of Object.keys(settings) as SettingName[]) {
    const { flag, secret } = settings[name];
    const { text, source } = config[name];
    if (source !== "default" && source !== "none" && secret !== true) given[flag] = text;
  }
  return { ...more, workspaces, settings: given, logForm: isTerminal ? "text" : "json", pid: Deno.pid };
}

function showReport(
  report: HostReport,
  { engine, box }: { readonly engine: EngineKind; readonly box: BoxReport },
  { config, output }: CommandContext,
): void {
  const { publicUrl, model } = config;
  const whole = {
    ...report,
    engine,
    box,
    model: engine === "llm" ? model.text : undefined,
    publicUrl: publicUrl.value && urlText(publicUrl.value),
    program: programName(),
  };
  if (output.wantsJson) output.json(reportJson(whole));
  else for (const line of reportLines(whole)) output.line(line);
}
