import type { MainAnswer, MainRequest } from "@/host/messages.ts";
import { findModelKey, type ModelKeyOptions } from "./model_key.ts";

/** What the main thread does for the host with. */
export type MainServicesOptions = ModelKeyOptions;

/** Makes what answers the host when it asks for what it has no right to do itself. */
export function mainServices(options: MainServicesOptions): (request: MainRequest) => Promise<MainAnswer> {
  return (request) => Promise.resolve(answerHost(request, options));
}

function answerHost(request: MainRequest, options: MainServicesOptions): MainAnswer {
  switch (request.kind) {
    case "start program":
      return {
        kind: "refused",
        why: "Cannot start a program for the host: this build has no box to start it in",
      };
    case "resolve secret":
      return findModelKey(request.reference, options);
    default:
      return request satisfies never;
  }
}
