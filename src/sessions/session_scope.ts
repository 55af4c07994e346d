import { join } from "node:path";
import { type CallerName, isCallerName, isContextId } from "@/protocol/ids.ts";
import { sha256Hex } from "@/workspace/sha256.ts";

/** The scope of the owner's own conversation in a workspace (data-model.md 7). */
export const ownerScope = "ws-owner";

/**
 * Returns the scope of a caller's conversation: `ws-a2a-<caller>_<contextId>` (data-model.md 7).
 *
 * Two different pairs never share a scope: names have no `_`. A local caller's `@` stays: no key holder's name has one,
 * and it is plain in file names everywhere. A contextId with an upper-case letter gets `~<8 hex of its sha256>`, so that
 * two that differ in case alone stay two files where the file system does not see case. Safe as a file name: at most
 * 158 characters of `[A-Za-z0-9_~@-]`.
 *
 * @throws {TypeError} If `contextId` is not `[A-Za-z0-9_-]{1,100}`: it would become a path.
 */
export function callerScope(caller: CallerName, contextId: string): string {
  if (!isContextId(contextId)) {
    throw new TypeError(`Cannot make a scope: expected 1 to 100 of A-Z, a-z, 0-9, "_" and "-" as contextId`);
  }
  const scope = `ws-a2a-${caller}_${contextId}`;
  if (!/[A-Z]/.test(contextId)) return scope;
  return `${scope}~${sha256Hex(contextId).slice(0, 8)}`;
}

/** Returns whose conversation a scope is; undefined for the owner's, and for a name that `callerScope` never made. */
export function scopeOwner(scope: string): { readonly caller: CallerName; readonly contextId: string } | undefined {
  const [, caller, contextId] = /^ws-a2a-(@?[a-z0-9-]{1,40})_([A-Za-z0-9_-]{1,100})(?:~[0-9a-f]{8})?$/.exec(scope) ??
    [];
  if (caller === undefined || contextId === undefined || !isCallerName(caller)) return undefined;
  return callerScope(caller, contextId) === scope ? { caller, contextId } : undefined;
}

/** Returns the path of a scope's transcript in the folder of the sessions. */
export function transcriptPath(folder: string, scope: string): string {
  return join(folder, `${scope}.jsonl`);
}

/**
 * Returns the path of the folder that a conversation's programs keep from turn to turn, seen as `/session` in their box: beside the
 * transcript, with which it is removed.
 */
export function keptFolder(folder: string, scope: string): string {
  return join(folder, scope);
}

/** Returns the path of a scope's older part number `part` (from 1), put aside when it was full (data-model.md 7). */
export function olderTranscriptPath(folder: string, scope: string, part: number): string {
  return join(folder, `${scope}.${part}.jsonl`);
}

/** Reads a transcript's file name: its scope, and its part number, 0 for the one that is written; undefined for others. */
export function transcriptName(name: string): { readonly scope: string; readonly part: number } | undefined {
  const [, scope, part = "0"] = /^([^.]+)(?:\.(\d{1,9}))?\.jsonl$/.exec(name) ?? [];
  return scope === undefined ? undefined : { scope, part: Number(part) };
}
