import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { type ErrorDetail, errorTable } from "@/protocol/errors.ts";

/** What a caller was answered, whichever binding it came over: equal calls give equal replies (A2A 1.0 §5.1). */
export type WireReply =
  | { readonly kind: "result"; readonly result: unknown }
  | { readonly kind: "events"; readonly events: readonly unknown[] }
  | WireError;

export interface WireError {
  readonly kind: "error";
  /** Of the `ErrorInfo`. */
  readonly reason: string;
  /** What the table has for both bindings; the answer itself was checked for its own. */
  readonly code: number;
  readonly http: number;
  readonly message: string;
  readonly details: readonly ErrorDetail[];
  readonly retryAfter?: string;
}

/**
 * Reads an answer to its end, and checks what its binding promises of it: the envelope with id 1 or null, the status of the
 * error table, the `ErrorInfo` first, the media type.
 */
export async function readReply(answer: Response): Promise<WireReply> {
  const text = await answer.text();
  const type = answer.headers.get("Content-Type");
  if (type === "text/event-stream") {
    strictEqual(answer.status, 200);
    return { kind: "events", events: eventsOf(text) };
  }
  ok(type === "application/json" || type === "application/a2a+json", `${answer.status} ${type} ${text}`);
  const json = JSON.parse(text);
  if ("jsonrpc" in json) return rpcReply(json, answer);
  return "error" in json ? restError(json, answer) : { kind: "result", result: json };
}

/** The events of a whole stream, out of their envelopes. */
export function eventsOf(text: string): unknown[] {
  const lines = text.split("\n\n").filter((line) => line !== "" && !line.startsWith(":"));
  return lines.map((line) => {
    ok(line.startsWith("data: ") && !line.includes("\n"), line);
    const json = JSON.parse(line.slice("data: ".length));
    return "jsonrpc" in json && "result" in json ? json.result : json;
  });
}

interface RpcJson {
  readonly jsonrpc: unknown;
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data: readonly ErrorDetail[] };
}

function rpcReply({ jsonrpc, id, result, error }: RpcJson, answer: Response): WireReply {
  strictEqual(jsonrpc, "2.0");
  ok(id === 1 || id === null);
  if (error === undefined) {
    strictEqual(answer.status, 200);
    return { kind: "result", result };
  }
  const { code, message, data } = error;
  const { row, reason } = rowOf(data, answer, "rpcHttp");
  strictEqual(code, row.code);
  return { kind: "error", reason, code, http: row.http, message, details: data, ...retryAfterOf(answer) };
}

interface RestErrorJson {
  readonly error: {
    readonly code: number;
    readonly status: string;
    readonly message: string;
    readonly details: readonly ErrorDetail[];
  };
}

function restError(json: RestErrorJson, answer: Response): WireError {
  deepStrictEqual(Object.keys(json), ["error"]);
  const { code, status, message, details } = json.error;
  const { row, reason } = rowOf(details, answer, "http");
  deepStrictEqual([code, status], [row.http, row.status]);
  return { kind: "error", reason, code: row.code, http: code, message, details, ...retryAfterOf(answer) };
}

function rowOf(details: readonly ErrorDetail[], { status }: Response, field: "http" | "rpcHttp") {
  const [info] = details;
  strictEqual(info?.["@type"], "type.googleapis.com/google.rpc.ErrorInfo");
  ok(details.every((detail) => typeof detail["@type"] === "string"));
  const rows = Object.values(errorTable).filter(({ reason }) => reason === info.reason);
  const row = rows.find((row) => row[field] === status);
  ok(row !== undefined, `${info.reason} with status ${status}`);
  strictEqual(info.domain, row.domain);
  return { row, reason: row.reason };
}

function retryAfterOf({ headers }: Response): { readonly retryAfter?: string } {
  const retryAfter = headers.get("Retry-After");
  return retryAfter === null ? {} : { retryAfter };
}
