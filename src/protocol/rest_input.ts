import { A2AError } from "./errors.ts";
import { isJsonObject, type JsonObject, typeNameOf } from "./field_reader.ts";

/** A request over HTTP+JSON, taken apart by its route. */
export interface RestInput {
  /** Fields that stand in the path, such as `{ id }` or `{ taskId, id }`; decoded. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: URLSearchParams;
  /** The parsed JSON of the body; undefined when there is none. */
  readonly body?: unknown;
}

/**
 * Gives the ProtoJSON object that a request over HTTP+JSON stands for: the path with the body, or the path with the query
 * (A2A 1.0 §11.3, §11.5).
 *
 * A body may be empty or null. In a query an empty value is unset; a name that is given more than once is an array, and so refused
 * where it is read: no method has a repeated field there. A body that names another id than the path is `INVALID_PARAMS`.
 */
export function restJson(from: "body" | "query", { path = {}, query, body }: RestInput): JsonObject | A2AError {
  const json = from === "query" ? queryJson(query) : body ?? {};
  if (!isJsonObject(json)) return violation("", `must be an object, got ${typeNameOf(json)}`);
  const bound: Record<string, unknown> = { ...json };
  for (const [name, value] of Object.entries(path)) {
    for (const spelling of [name, name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]) {
      const given = Object.hasOwn(json, spelling) ? json[spelling] ?? "" : "";
      if (from === "body" && given !== "" && given !== value) return violation(name, "must be that of the path");
      delete bound[spelling];
    }
    bound[name] = value;
  }
  return bound;
}

function queryJson(query: URLSearchParams | undefined): JsonObject {
  const values = new Map<string, unknown>();
  for (const [name, value] of query ?? []) {
    if (value === "") continue;
    values.set(name, values.has(name) ? repeated : flagOf(name, value));
  }
  return Object.fromEntries(values);
}

/** Stands for all the values of a name: no field takes more than one, so that its reader refuses it. */
const repeated: readonly string[] = [];

/** Booleans are words in a query. */
function flagOf(name: string, value: string): unknown {
  const isFlag = name === "includeArtifacts" || name === "include_artifacts";
  return isFlag && (value === "true" || value === "false") ? value === "true" : value;
}

function violation(field: string, description: string): A2AError {
  return new A2AError("INVALID_PARAMS", {
    message: `Cannot read the request: ${field === "" ? "it" : field} ${description}`,
    fieldViolations: [{ field, description }],
  });
}
