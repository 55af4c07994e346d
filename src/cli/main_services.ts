import type { MainAnswer, MainRequest } from "@/host/messages.ts";

/**
 * Answers what the host has no right to do itself. This build does none of it: there is no engine that needs a program, and
 * nobody is called with a key.
 */
export function answerHost(request: MainRequest): Promise<MainAnswer> {
  return Promise.resolve({ kind: "refused", why: whyNot(request) });
}

function whyNot(request: MainRequest): string {
  switch (request.kind) {
    case "start program":
      return "Cannot start a program for the host: this build has no box to start it in";
    case "resolve secret":
      return "Cannot look up a key for the host: this build calls no agents";
    default:
      return request satisfies never;
  }
}
