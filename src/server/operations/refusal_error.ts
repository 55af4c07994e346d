import { A2AError, type Reason } from "@/protocol/errors.ts";
import type { RefusalReason, Refused } from "@/server/tasks/refusal.ts";

const reasons: Readonly<Record<RefusalReason, Reason>> = {
  "not found": "TASK_NOT_FOUND",
  "wrong context": "INVALID_PARAMS",
  "terminal": "UNSUPPORTED_OPERATION",
  "context busy": "UNSUPPORTED_OPERATION",
  "queue full": "QUEUE_FULL",
  "not cancelable": "TASK_NOT_CANCELABLE",
  "too many tasks": "STORAGE_FULL",
  "too long": "UNSUPPORTED_OPERATION",
  "too large": "INVALID_PARAMS",
  "too many webhooks": "INVALID_PARAMS",
  "too many active webhooks": "INVALID_PARAMS",
  "too many turns": "TOO_MANY_REQUESTS",
  "too many delegated turns": "TOO_MANY_REQUESTS",
  "hop limit": "UNSUPPORTED_OPERATION",
  "storage full": "STORAGE_FULL",
  "shutting down": "SHUTTING_DOWN",
  "id reused": "INVALID_PARAMS",
};

const fields: Partial<Record<RefusalReason, string>> = {
  "wrong context": "message.contextId",
  "id reused": "message.messageId",
};

/** The row of the error table for what the run service refused (product.md §5.10). */
export function refusalError({ why, text, retryAfterMs }: Refused): A2AError {
  const field = fields[why];
  return new A2AError(reasons[why], {
    message: text,
    ...(retryAfterMs !== undefined && { retryAfterSeconds: retryAfterMs / 1000 }),
    ...(field !== undefined && { fieldViolations: [{ field, description: text }] }),
  });
}

/** A page token of a list that is none of ours. */
export function badPageToken(): A2AError {
  const description = "is none of ours, or was made for another filter: start with the first page";
  const message = `Cannot read the request: pageToken ${description}`;
  return new A2AError("INVALID_PARAMS", { message, fieldViolations: [{ field: "pageToken", description }] });
}
