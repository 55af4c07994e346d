import { webhooksMax } from "./push_lifecycle.ts";

/** Why a message or a call was not taken; nothing of it was stored or run. */
export type RefusalReason = keyof typeof refusalTexts;

/** A refusal: an expected outcome, not an exception. The wire layer gives it its code. */
export interface Refused {
  readonly kind: "refused";
  readonly why: RefusalReason;
  /** For the caller. The word "busy" stands only in the context's own refusal: clients act on it (product.md §5.10). */
  readonly text: string;
  readonly retryAfterMs?: number;
}

const refusalTexts = {
  "not found": "Task not found",
  "wrong context": "The contextId is not that of the task",
  "terminal": "The task is over: send a new message in the same context instead",
  "context busy": "context busy, retry when the current task ends",
  "queue full": "Too many messages wait already, retry later",
  "not cancelable": "The task is over and cannot be canceled",
  "too many tasks": "Too many unfinished tasks are stored for this caller",
  "too long": "The task holds 1,000 messages: start a new one",
  "too large": "The task would be over the limit of 4 MiB, files aside: send less, or start a new one",
  "too many webhooks":
    `The task has ${webhooksMax} webhooks, the most it may have: delete one, or set one anew under its id`,
  "too many active webhooks":
    "Too many webhooks of this caller still wait for their tasks: delete some, or wait until tasks end",
  "too many turns": "Too many turns in this context, retry later",
  "too many delegated turns": "Too many turns in a row came over other agents in this context",
  "hop limit": "hop limit: the message came over too many agents",
  "storage full": "No room is left to store this, retry later",
  "shutting down": "The server is shutting down, retry later",
  "id reused": "messageId used for another message",
} as const;

const retryAfterMs: Partial<Record<RefusalReason, number>> = {
  "queue full": 30_000,
  "storage full": 60_000,
  // At the latest: what limits turns knows better.
  "too many turns": 3_600_000,
  "too many delegated turns": 3_600_000,
  "shutting down": 10_000,
};

/**
 * Makes the refusal for a reason, with its text and, when trying again makes sense, after how long; `known` is what the place
 * that refuses knows better.
 */
export function refused(why: RefusalReason, known: Partial<Pick<Refused, "text" | "retryAfterMs">> = {}): Refused {
  const retry = retryAfterMs[why];
  return {
    kind: "refused",
    why,
    text: refusalTexts[why],
    ...(retry !== undefined && { retryAfterMs: retry }),
    ...known,
  };
}
