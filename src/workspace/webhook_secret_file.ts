import { dirname } from "node:path";
import { writeAtomically } from "./atomic_write.ts";
import type { FileContent } from "./cached_file.ts";
import { isPathTrouble } from "./disk.ts";
import { type EntryFile, readContent } from "./entry_editor.ts";
import { type LockBusy, withLock } from "./file_lock.ts";
import { isObject, parseJson } from "./json_entries.ts";
import { makeOwnedFolder } from "./owned_folder.ts";
import { Secret } from "./secret.ts";

/** Where a workspace's webhook secret is: `webhook.secret`, written under `edit.lock`. */
export type WebhookSecretFile = Pick<EntryFile, "disk" | "random" | "path" | "lock">;

/** What `webhook.secret` says. */
export type WebhookSecretRead =
  | WebhookMaster
  | { readonly kind: "none" }
  /** Something is there that cannot be used. `why` and `cure` end a sentence each, and hold nothing of the file. */
  | { readonly kind: "unusable"; readonly why: string; readonly cure: string };

/** The secret that every caller's is made from: 32 bytes as hex digits. */
export interface WebhookMaster {
  readonly kind: "master";
  readonly master: Secret;
}

/** The largest `webhook.secret` that is read. */
export const webhookSecretBytesMax = 4096;

/** Parses the content of `webhook.secret`. Never throws. */
export function parseWebhookSecret(content: FileContent): WebhookSecretRead {
  if (content.kind === "missing") return { kind: "none" };
  if (content.kind === "unusable") return unusable(content.why);
  if (content.bytes.length === 0) return unusable("it is empty");
  const json = parseJson(content.bytes);
  if (!isObject(json)) return unusable("it is no JSON object in UTF-8");
  const { v, secret } = json;
  if (typeof v === "number" && v > 1) {
    return { kind: "unusable", why: "a newer version wrote it", cure: "update this one" };
  }
  if (v !== 1 || typeof secret !== "string" || !/^[0-9a-f]{64}$/i.test(secret)) {
    return unusable('it does not have "v" 1 and a "secret" of 64 hex digits');
  }
  return { kind: "master", master: new Secret(secret.toLowerCase()) };
}

/**
 * Reads `webhook.secret`, and makes it when it is missing: whichever process is first does, and all get the same.
 *
 * What is there is never written over, also when it cannot be used: everybody's secret would change. Resolves with a new one
 * when it is durable. Rejects only with the disk's errors.
 */
export async function requireWebhookSecret(
  file: WebhookSecretFile,
): Promise<Exclude<WebhookSecretRead, { readonly kind: "none" }> | LockBusy> {
  const { disk, path, lock, random } = file;
  const found = await readNow(file);
  if (found.kind !== "none") return found;
  await makeOwnedFolder(disk, dirname(lock));
  return await withLock({ disk, path: lock }, async () => {
    const made = await readNow(file);
    if (made.kind !== "none") return made;
    const secret = random.hex(masterBytes);
    await writeAtomically(disk, path, { text: `${JSON.stringify({ v: 1, secret })}\n`, random });
    return { kind: "master" as const, master: new Secret(secret) };
  });
}

const masterBytes = 32;

async function readNow({ disk, path }: WebhookSecretFile): Promise<WebhookSecretRead> {
  try {
    const read = parseWebhookSecret(await readContent(disk, path, webhookSecretBytesMax));
    // The owner may keep it elsewhere: what is not mounted now must not be replaced.
    const isDangling = read.kind === "none" && disk.linkStampSync(path) !== undefined;
    return isDangling ? unusable("it is a link to what is not there") : read;
  } catch (error) {
    if (isPathTrouble(error)) return unusable("it cannot be opened");
    throw error;
  }
}

function unusable(why: string): WebhookSecretRead {
  const cure = "restore it, or remove it: then a new one is made and the secrets of all callers change";
  return { kind: "unusable", why, cure };
}
