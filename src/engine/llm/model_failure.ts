import { APICallError, RetryError } from "ai";
import type { TimeMs } from "@/time/clock.ts";

/** Why a model gave no answer. */
export interface ModelFailure {
  /** A sentence for the caller: nothing of what the server said. */
  readonly message: string;
  /** For the log: what the server said, without the key. */
  readonly cause: Error;
  /** Another try may help: at once or, when the server says so, after this. */
  readonly retry?: { readonly afterMs?: number };
  /** The conversation is too long for the model. */
  readonly isTooLong?: boolean;
  /** The key was not taken: the next turn looks it up again. */
  readonly isKeyRefused?: boolean;
}

/** What is needed to judge an error. */
export interface FailureOptions {
  readonly now: TimeMs;
  /** Takes the key out of a text. */
  readonly scrub: (text: string) => string;
}

/** Judges what went wrong with a call of a model: for the caller, for the log, and whether to try again. */
export function modelFailure(error: unknown, { now, scrub }: FailureOptions): ModelFailure {
  const given = RetryError.isInstance(error) ? error.lastError : error;
  const cause = new Error(scrub(describe(given)).slice(0, causeCharsMax));
  if (!APICallError.isInstance(given)) {
    const message = isNetwork(given) ? "The model's server could not be reached" : "The model's answer broke off";
    return { message, cause, retry: {} };
  }
  const { statusCode: status, responseHeaders = {} } = given;
  if (status === undefined) return { message: "The model's server could not be reached", cause, retry: {} };
  if (tooLong.test(`${given.message} ${given.responseBody ?? ""}`) && status < 500) {
    return { message: "The conversation is too long for the model", cause, isTooLong: true };
  }
  if (status === 401 || status === 403) {
    return { message: `The model's server refused the key (HTTP ${status})`, cause, isKeyRefused: true };
  }
  if (status === 404) return { message: "The model's server does not know the model (HTTP 404)", cause };
  if (status >= 300 && status < 400) {
    return { message: `The model's server sent the request elsewhere (HTTP ${status})`, cause };
  }
  if (status === 408 || status === 409 || status === 429 || status >= 500) {
    const message = status === 429
      ? "The model takes no more requests now (HTTP 429)"
      : `The model's server failed (HTTP ${status})`;
    return { message, cause, retry: { afterMs: retryAfterMs(responseHeaders, now) } };
  }
  if (status < 300) return { message: "The model's server sent no answer that can be read", cause, retry: {} };
  return { message: `The model's server refused the request (HTTP ${status})`, cause };
}

const causeCharsMax = 1000;

/** As the providers say it: "context length", "prompt is too long", "input token count exceeds". */
const tooLong =
  /context.{0,10}(?:length|window|size)|prompt is too long|too many tokens|input.{0,20}token.{0,20}exceed|maximum.{0,20}tokens?.{0,40}(?:input|context)|context_length_exceeded/i;

function describe(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === "string" ? error : JSON.stringify(error) ?? "unknown";
  const status = APICallError.isInstance(error) && error.statusCode !== undefined ? `HTTP ${error.statusCode}: ` : "";
  const body = APICallError.isInstance(error) && error.responseBody ? ` (${error.responseBody})` : "";
  const inner = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return `${status}${error.message}${inner}${body}`;
}

function isNetwork(error: unknown): boolean {
  return error instanceof TypeError && /fetch|connect|dns|network|sending request/i.test(error.message);
}

/** `retry-after-ms`, else `Retry-After` in seconds or as a date (RFC 9110 §10.2.3). */
function retryAfterMs(headers: Readonly<Record<string, string>>, now: TimeMs): number | undefined {
  const exact = Number(headers["retry-after-ms"] ?? NaN);
  if (exact >= 0) return exact;
  const text = headers["retry-after"]?.trim() ?? "";
  if (/^\d{1,9}(?:\.\d{1,3})?$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
