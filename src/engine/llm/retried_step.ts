import { modelStep, type StepDelta, type StepEnd, type StepRequest } from "./model_step.ts";
import type { ModelFailure } from "./model_failure.ts";

/** What is waited between two tries, when the server does not say. */
const pausesMs = [1_000, 2_000, 4_000, 8_000] as const;
/** Who asks for a longer wait is not waited for. */
const pauseMsMax = 120_000;

/** A new try begins: what was said so far counts no more. */
export interface StepAgain {
  readonly kind: "again";
}

/**
 * Calls a model, up to five times while that may help: it waits as `Retry-After` says, else longer each time.
 *
 * A try that broke off in the middle is made again as a whole: nothing that it said was acted on.
 */
export async function* retriedStep(request: StepRequest): AsyncGenerator<StepDelta | StepAgain, StepEnd, void> {
  const { clock, signal } = request;
  for (let tries = 1;; tries++) {
    const end = yield* modelStep(request);
    if (end.kind !== "failed") return end;
    const pauseMs = pauseBefore(tries, end.failure);
    if (pauseMs === undefined) return tries === 1 ? end : { ...end, failure: afterTries(end.failure, tries) };
    const slept = await clock.sleep(pauseMs, signal).then(() => true, () => false);
    if (!slept) return { kind: "aborted", said: end.said };
    yield { kind: "again" };
  }
}

/** How long to wait before the next try; undefined when there is none. */
function pauseBefore(tries: number, { retry }: ModelFailure): number | undefined {
  const pauseMs = pausesMs[tries - 1];
  if (retry === undefined || pauseMs === undefined) return undefined;
  const asked = retry.afterMs ?? pauseMs;
  return asked <= pauseMsMax ? asked : undefined;
}

function afterTries(failure: ModelFailure, tries: number): ModelFailure {
  return { ...failure, message: `${failure.message}, after ${tries} tries` };
}
