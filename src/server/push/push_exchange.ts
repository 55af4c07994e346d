import type { JsonMediaType } from "@/protocol/content_types.ts";
import { retryAfterMs } from "@/protocol/retry_after.ts";
import type { CallerName } from "@/protocol/ids.ts";
import type { Outbound } from "@/outbound/outbound.ts";
import { OutboundError } from "@/outbound/outbound_error.ts";
import type { LoggedStatus, PushTarget, TaskRecord } from "@/server/tasks/task_record.ts";
import type { TaskStore } from "@/server/tasks/task_store.ts";
import type { Clock } from "@/time/clock.ts";
import { pushBody } from "./push_body.ts";
import { webhookHeaders, webhookId } from "./webhook_signature.ts";

/** How long one try may take, and how long until the receiver says something (outbound.md 4). */
const totalMs = 30_000;
const headMs = 15_000;

/** What one try came to. `error`: a code of ours or a status, never a word of the receiver. */
export type PushResult =
  & { readonly status?: number; readonly bytes: number }
  & (
    | { readonly kind: "taken" }
    /** 410. */
    | { readonly kind: "gone" }
    | { readonly kind: "failed"; readonly error: string; readonly isRefusal: boolean; readonly retryAfterMs?: number }
  );

/** What a push goes out with. */
export interface PushExchangeOptions {
  readonly store: Pick<TaskStore, "openBlob">;
  readonly outbound: Pick<Outbound, "guarded">;
  readonly clock: Clock;
  /**
   * The keys that pushes of a caller are signed with, the newest first; undefined when they cannot be had now, and then nothing
   * is sent: who verifies would have to refuse it. Never rejects.
   */
  readonly keysOf: (caller: CallerName) => Promise<readonly CryptoKey[] | undefined>;
}

/**
 * Tells a webhook one status, once. What the receiver says beside its status and `Retry-After` is not read. Rejects only for
 * what is no fault of the receiver's: the disk.
 */
export async function sendPush(
  push: { readonly record: TaskRecord; readonly target: PushTarget; readonly logged: LoggedStatus },
  options: PushExchangeOptions & { readonly signal: AbortSignal },
): Promise<PushResult> {
  const { record, target, logged } = push;
  const { store, outbound, clock, signal } = options;
  const { caller } = record;
  const keys = await options.keysOf(caller);
  if (keys === undefined) return { kind: "failed", error: "NO_SIGNING_KEY", isRefusal: false, bytes: 0 };
  const body = await pushBody(record, logged, { store, version: target.version });
  const at = clock.now();
  const id = webhookId({ taskId: record.task.id, configId: target.id, seq: logged.seq });
  const signed = await webhookHeaders({ id, at, body }, keys);
  const headers = { ...ownHeaders(target), ...signed };
  try {
    const headOnly = { reads: "head", bytesMax: 0 } as const;
    const request = { method: "POST", caller, headers, body, signal, totalMs, headMs, ...headOnly } as const;
    await using answer = await outbound.guarded(target.url, request);
    return { ...judged(answer, clock.now()), bytes: body.length };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return { kind: "failed", error: error.code, isRefusal: error.isRefusal, bytes: body.length };
  }
}

function ownHeaders({ token, authentication, version }: PushTarget): Record<string, string> {
  const contentType: JsonMediaType = version === "0.3" ? "application/json" : "application/a2a+json";
  return {
    "Content-Type": contentType,
    ...(token !== undefined && { "X-A2A-Notification-Token": token }),
    ...(authentication && { Authorization: `${authentication.scheme} ${authentication.credentials}` }),
  };
}

function judged({ status, headers }: { readonly status: number; readonly headers: Headers }, nowMs: number) {
  if (status >= 200 && status < 300) return { kind: "taken" as const, status };
  if (status === 410) return { kind: "gone" as const, status };
  const patience = retryAfterMs(headers.get("Retry-After"), nowMs);
  return {
    kind: "failed" as const,
    error: String(status),
    isRefusal: false,
    status,
    ...(patience !== undefined && { retryAfterMs: patience }),
  };
}
