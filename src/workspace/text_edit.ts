import { type Refusal, refuse } from "./confined_path.ts";

/** A text that was changed. */
export interface Edited {
  readonly kind: "edited";
  readonly text: string;
}

/** What is put in the place of what, as exact text. */
export interface Replacement {
  readonly old: string;
  readonly new: string;
  /** Everywhere it stands; else it must stand in one place. */
  readonly all?: boolean;
}

/**
 * Replaces exact text. A file whose lines end in CRLF keeps that: who edits sees and writes plain line feeds. Pure.
 */
export function editText(text: string, change: Replacement): Edited | Refusal {
  if (change.old === "") return refuse("the text to replace is empty");
  const hasReturns = text.includes("\r\n");
  const isExact = text.includes(change.old);
  if (!isExact && !hasReturns) return refuse("the text to replace is not in it");
  const isReturned = hasReturns && (!isExact || !/(?:^|[^\r])\n/.test(text));
  const [old, next] = isReturned ? [withReturns(change.old), withReturns(change.new)] : [change.old, change.new];
  const first = text.indexOf(old);
  if (first === -1) return refuse("the text to replace is not in it");
  if (change.all !== true && text.indexOf(old, first + 1) !== -1) {
    return refuse("the text to replace is in it more than once: give more of what is around it, or replace all");
  }
  const edited = text.replaceAll(old, () => next);
  return edited === text ? refuse("it would stay as it is") : { kind: "edited", text: edited };
}

function withReturns(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}
