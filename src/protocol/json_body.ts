import { A2AError } from "./errors.ts";
import { findJsonExcess, type JsonExcess, type JsonLimits, requestJsonLimits } from "./json_limits.ts";

/** A body that is JSON within the limits. */
export interface JsonBody {
  readonly kind: "json";
  readonly value: unknown;
  /** As it was sent, for the digits of an id. */
  readonly text: string;
}

/**
 * Parses the body of a request: limits first, then UTF-8, then JSON (product.md §5.6).
 *
 * Over a limit it is `INVALID_PARAMS` naming it, else what is no JSON in UTF-8 is `PARSE_ERROR`. A member named `__proto__` is
 * left out wherever it stands, so that no later copy of the value can change a prototype. Never throws.
 */
export function parseJson(bytes: Uint8Array, limits: JsonLimits = requestJsonLimits): JsonBody | A2AError {
  const excess = findJsonExcess(bytes, limits);
  if (excess !== undefined) return new A2AError("INVALID_PARAMS", { message: describeExcess(excess) });
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    // An underscore can be written as an escape; only then is there more to look for than the name.
    if (text.includes("__proto__") || text.includes("\\u005")) dropProto(value);
    return { kind: "json", value, text };
  } catch {
    return new A2AError("PARSE_ERROR");
  }
}

function describeExcess({ limit, max }: JsonExcess): string {
  const what = {
    depth: `it is nested deeper than ${max} levels`,
    values: `it holds more than ${max} values`,
    parts: `a message has more than ${max} parts`,
  };
  return `Cannot read the body: ${what[limit]}; send less at once`;
}

/** Recursion is bounded by the depth limit. */
function dropProto(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Object.hasOwn(value, "__proto__")) delete (value as Record<string, unknown>)["__proto__"];
  for (const inner of Object.values(value)) dropProto(inner);
}
