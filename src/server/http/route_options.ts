import { getLogger } from "@logtape/logtape";
import { A2AError } from "@/protocol/errors.ts";
import type { Method, RequestOf } from "@/protocol/request_types.ts";
import type { Call, Outcome } from "@/server/operations/call.ts";
import type { Clock } from "@/time/clock.ts";
import type { CacheableAnswers } from "./cacheable_answer.ts";

const logger = getLogger(["a2a", "server", "http"]);

/** What both bindings work with. */
export interface RouteOptions {
  readonly clock: Clock;
  /** A request that names no version is refused, as the specification has it (product.md §5.8). */
  readonly strictVersion: boolean;
  /** For callers' cards. */
  readonly answers: CacheableAnswers;
  /** Runs an operation of the one table. */
  readonly operate: <M extends Method>(method: M, request: RequestOf[M], call: Call) => Promise<Outcome | A2AError>;
}

/** A call whose body was not read yet: the version of A2A may be in it. */
export type UnreadCall = Omit<Call, "version">;

/** What a stream was ended with, as it is. All else is a bug: the cause goes to the log, its caller gets one fixed sentence. */
export function internalError(method: string, error: unknown): A2AError {
  if (error instanceof A2AError) return error;
  logger.error("{method} broke: {error}", { method, error });
  return new A2AError("INTERNAL");
}
