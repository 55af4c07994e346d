import { timingSafeEqual } from "node:crypto";
import { sha256Hex } from "./sha256.ts";

/** The hash of a caller's key as `callers.json` has it: `sha256:<64 hex>` of its UTF-8. */
export type KeyHash = `sha256:${string}`;

/** Hashes a key: what is stored instead of it, and what a presented one is compared by. */
export function hashKey(key: string): KeyHash {
  return `sha256:${sha256Hex(key)}`;
}

/** The hash that a field of `callers.json` holds, in lower case; undefined when it holds none. */
export function readKeyHash(value: unknown): KeyHash | undefined {
  return typeof value === "string" && /^sha256:[0-9a-f]{64}$/i.test(value) ? value.toLowerCase() as KeyHash : undefined;
}

/** Compares in a time that does not depend on where two hashes differ (product.md §5.2). */
export function sameKeyHash(a: KeyHash, b: KeyHash): boolean {
  const left = new TextEncoder().encode(a);
  const right = new TextEncoder().encode(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
