import type { MainAnswer, MainRequest } from "@/host/messages.ts";
import type { ProgramStarter } from "./box/program_starter.ts";
import { findModelKey, type ModelKeyOptions } from "./model_key.ts";

/** What the main thread does for the host with. */
export interface MainServicesOptions extends ModelKeyOptions {
  /** Absent: there is no box, and callers start no programs. */
  readonly programs: Pick<ProgramStarter, "start" | "ended" | "kill"> | undefined;
}

/** Makes what answers the host when it asks for what it has no right to do itself. */
export function mainServices(options: MainServicesOptions): (request: MainRequest) => Promise<MainAnswer> {
  return (request) => answerHost(request, options);
}

async function answerHost(request: MainRequest, options: MainServicesOptions): Promise<MainAnswer> {
  const { programs } = options;
  switch (request.kind) {
    case "start program":
      return await programs?.start(request) ?? noBox;
    case "await program":
      return programs === undefined ? noBox : { kind: "ended", end: await programs.ended(request.id) };
    case "kill program":
      programs?.kill(request.id);
      return { kind: "done" };
    case "resolve secret":
      return findModelKey(request.reference, options);
    default:
      return request satisfies never;
  }
}

const noBox: MainAnswer = { kind: "refused", why: "This host has no box, and runs no programs without" };
