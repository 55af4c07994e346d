import type { ListQuery } from "./task_store.ts";

/** The place in a list behind which the next page begins: the last entry of the page before. */
export interface PageKey {
  readonly at: number;
  readonly id: string;
}

/**
 * Writes a page token: opaque for its reader, bound to the filter of its query.
 *
 * A key, not a position: a task that changes meanwhile moves to the front and disturbs nothing.
 */
export function writePageToken(key: PageKey, query: ListQuery): string {
  return btoa(`${key.at} ${key.id} ${filterOf(query)}`).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Reads the page token of `query`; undefined when it is none of ours, or was made for another filter. */
export function readPageToken(query: ListQuery): PageKey | undefined {
  let text;
  try {
    text = atob(query.pageToken.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return undefined;
  }
  const [at, id, filter, ...rest] = text.split(" ");
  if (rest.length > 0 || !/^\d{1,16}$/.test(at ?? "") || id === undefined || filter !== filterOf(query)) {
    return undefined;
  }
  return { at: Number(at), id };
}

/** FNV-1a over the filter: enough to notice a token that was made for another one. */
function filterOf({ caller, contextId, state, since }: ListQuery): string {
  let hash = 0x811c9dc5;
  for (const char of JSON.stringify([caller, contextId ?? null, state ?? null, since ?? null])) {
    hash = Math.imul(hash ^ char.codePointAt(0)!, 0x01000193);
  }
  return (hash >>> 0).toString(36);
}
