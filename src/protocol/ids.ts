/** A nominal type: a plain value that only its own parser can make. */
export type Brand<T, B extends string> = T & { readonly __brand: B };

/** The id of a task of ours: a UUID in lower case, made by us, safe as a file name. */
export type TaskId = Brand<string, "TaskId">;

/** Who calls us: `[a-z0-9-]{1,40}`, or `@<workspace>` for a delegation on the same host (product.md §12). */
export type CallerName = Brand<string, "CallerName">;

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const namePattern = /^[a-z0-9-]{1,40}$/;
const contextPattern = /^[A-Za-z0-9_-]{1,100}$/;

/** Says whether `value` can be a task id of ours. Ids from outside are checked before they become a path. */
export function isTaskId(value: unknown): value is TaskId {
  return typeof value === "string" && uuidPattern.test(value);
}

/** @throws {TypeError} If `value` is not a UUID in lower case. */
export function parseTaskId(value: unknown): TaskId {
  if (!isTaskId(value)) throw new TypeError(`Cannot read a task id: expected a UUID, got ${quote(value)}`);
  return value;
}

/** Says whether `value` names a caller: a key holder, or `@<workspace>`. */
export function isCallerName(value: unknown): value is CallerName {
  return typeof value === "string" && namePattern.test(value.startsWith("@") ? value.slice(1) : value);
}

/** @throws {TypeError} If `value` is not a caller's name. */
export function parseCallerName(value: unknown): CallerName {
  if (!isCallerName(value)) {
    throw new TypeError(`Cannot read a caller name: expected 1 to 40 of a-z, 0-9 and "-", got ${quote(value)}`);
  }
  return value;
}

/** Says whether `value` can be a name in `callers.json` or `agents.json`: `[a-z0-9-]{1,40}` (seed 000 "Files"). */
export function isEntryName(value: unknown): value is string {
  return typeof value === "string" && namePattern.test(value);
}

/** Says whether `value` can be a contextId that a client chose: `[A-Za-z0-9_-]{1,100}` (seed 000 "Sessions"). */
export function isContextId(value: unknown): value is string {
  return typeof value === "string" && contextPattern.test(value);
}

function quote(value: unknown): string {
  return JSON.stringify(typeof value === "string" ? value.slice(0, 60) : value) ?? typeof value;
}
