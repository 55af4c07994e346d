import type { TimeMs } from "@/time/clock.ts";
import { isoTime } from "@/time/clock.ts";
import { curlLine } from "./curl_line.ts";
import { shellWord } from "./terminal.ts";

/** Whose secret is meant, and how this program is called on a command line. */
export interface HintedCaller {
  readonly name: string;
  /** As it was given. */
  readonly workspace: string;
  readonly program: string;
}

/** The command that prints what pushes of a caller are signed with. */
export function secretCommand({ name, workspace, program }: HintedCaller): string {
  return `${program} callers secret ${name} --workspace ${shellWord(workspace)}`;
}

/** What a person is told below a new key. `try` is to be pasted and stands as it is; the rest is dimmed. */
export interface KeyHints {
  readonly before: string;
  readonly try: string;
  readonly after: string;
}

/**
 * What a person is told below a key that was just made: how to try it, and what it does to the secret that pushes are signed
 * with. `rotated`: the key replaces one, which works on until the overlap is over, if there is any.
 */
export function keyHints(
  caller: HintedCaller,
  { key, address, rotated }: {
    readonly key: string;
    readonly address: string;
    readonly rotated?: { readonly overlapMs: number };
  },
): KeyHints {
  return {
    before: "This is the key, shown once and kept nowhere. Try it while a host serves the workspace:",
    try: curlLine(address, key),
    after: `${signingWords(rotated)}: ${secretCommand(caller)}`,
  };
}

/** What a person is told below a signing secret: how to verify with it, and what signs beside it. */
export function secretHint(previousUntil: TimeMs | undefined): string {
  const rule = 'webhook-signature is base64 of HMAC-SHA256 over "webhook-id.webhook-timestamp.body"';
  const how = `Verify pushes with it as standardwebhooks.com says: ${rule}`;
  const both = `until ${previousUntil === undefined ? "" : isoTime(previousUntil)} the secret of the old key signs too`;
  return previousUntil === undefined ? how : `${how}; ${both}`;
}

function signingWords(rotated: { readonly overlapMs: number } | undefined): string {
  if (rotated === undefined) return "Pushes to this caller's webhooks are signed; the secret";
  if (rotated.overlapMs > 0) return "While both keys work pushes are signed with both secrets; the new one";
  return "The secret that its pushes are signed with changed as well, at once; the new one";
}
