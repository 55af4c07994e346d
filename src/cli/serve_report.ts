import type { EngineKind } from "@/engine/engine.ts";
import type { HostReport } from "@/host/messages.ts";
import { version } from "@/version.ts";
import { curlLine, localAddress } from "./curl_line.ts";
import { shellWord } from "./terminal.ts";

/** Where callers' programs run. */
export type BoxReport =
  | { readonly kind: "box"; readonly version: string }
  | { readonly kind: "unsandboxed" }
  | { readonly kind: "none"; readonly why: string };

/** What a host that began to serve is like. */
export interface ServeReport extends HostReport {
  readonly engine: EngineKind;
  readonly box: BoxReport;
  /** The model of the engine `llm`. */
  readonly model?: string;
  /** `A2A__PublicUrl`, when there is one. */
  readonly publicUrl: string | undefined;
  /** How this program is called on a command line. */
  readonly program: string;
}

/** What a host says of itself when it begins to serve, line by line, with what to do next where nobody may call yet (product.md §3). */
export function* reportLines(report: ServeReport): Generator<string> {
  const { workspaces, engine, model, box, publicUrl, program } = report;
  const address = localAddress(report.address);
  yield `volcanic-a2a ${version} serves on ${address}${publicUrl === undefined ? "" : `, from outside ${publicUrl}`}`;
  for (const { name, folder, callers, writers, networkers } of workspaces) {
    yield `workspace  ${name}: ${folder}, ${
      callers === 0 ? "no callers" : callers === 1 ? "1 caller" : `${callers} callers`
    }`;
    if (writers.length > 0) yield `write      ${writers.join(", ")} may change files of ${name}`;
    if (networkers.length > 0) {
      yield `network    ${
        networkers.join(", ")
      } of ${name} may use the network from programs, this machine's own services too`;
    }
  }
  yield `engine     ${engine}${model === undefined ? "" : `, ${model}`}`;
  yield `box        ${boxLine(box)}`;
  yield "pushes     cannot be received: this build calls no agents";
  for (const { name, folder, callers } of workspaces) {
    if (callers > 0) continue;
    yield "";
    yield `Nobody may call ${name} yet. This makes a key and prints it, once:`;
    yield `  ${program} callers add my-friend --workspace ${shellWord(folder)}`;
    yield "and this says hi with it, in place of KEY:";
    yield `  ${curlLine(address, "KEY")}`;
  }
}

function boxLine(box: BoxReport): string {
  if (box.kind === "box") return `${box.version}: callers may run programs`;
  if (box.kind === "none") return `none (${box.why}): callers get no bash, no acp, no exec`;
  return "UNSANDBOXED: callers' programs have all rights of this process, its files and the network (Bash=unsandboxed)";
}

/** The same for programs. */
export function reportJson({ workspaces, engine, model, box, publicUrl, address }: ServeReport): unknown {
  return {
    ...{
      version,
      address: localAddress(address),
      publicUrl: publicUrl ?? null,
      workspaces,
      engine,
      model: model ?? null,
    },
    ...{ box: box.kind === "none" ? null : box.kind === "box" ? box.version : box.kind, receivesPushes: false },
  };
}
