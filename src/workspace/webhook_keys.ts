import { getLogger } from "@logtape/logtape";
import type { CallerName } from "@/protocol/ids.ts";
import type { Clock, TimeMs } from "@/time/clock.ts";
import { CachedFile, type FileContent, type Parsed } from "./cached_file.ts";
import { type Caller, type CallersFile, callersMax } from "./callers_file.ts";
import { Secret } from "./secret.ts";
import {
  parseWebhookSecret,
  requireWebhookSecret,
  webhookSecretBytesMax,
  type WebhookSecretFile,
  type WebhookSecretRead,
} from "./webhook_secret_file.ts";

const logger = getLogger(["a2a", "workspace"]);

/** The secrets that the pushes of a caller are signed with: `whsec_` and the base64 of 32 bytes, as Standard Webhooks has it. */
export interface WebhookSecrets {
  readonly secret: Secret;
  /** That of the key before a rotation, as long as this one works. */
  readonly previous?: { readonly secret: Secret; readonly until: TimeMs };
}

/**
 * Makes the secrets that a caller's pushes are signed with at `now`.
 *
 * Each is made from the workspace's own secret and the hash of the caller's key, so that a new key means a new secret, and
 * both sign as long as both keys work; a local caller's from the name of its workspace. Nothing else is stored.
 */
export async function webhookSecrets(
  caller: Caller,
  { master, now }: { readonly master: Secret; readonly now: TimeMs },
): Promise<WebhookSecrets> {
  const { current, previous } = sourcesOf(caller, now);
  const secretOf = async (name: string) => new Secret(`whsec_${(await derive(master, name)).toBase64()}`);
  const secret = await secretOf(current);
  return { secret, ...(previous && { previous: { secret: await secretOf(previous.name), until: previous.until } }) };
}

/** What the keys are kept with. */
export interface WebhookKeysOptions extends WebhookSecretFile {
  readonly clock: Clock;
  readonly callers: Pick<CallersFile, "read">;
}

/**
 * The keys that a host signs pushes with. An edit of `callers.json` and of `webhook.secret` holds at the next push; the keys
 * themselves are kept and cannot be read out again.
 */
export class WebhookKeys {
  readonly #options: WebhookKeysOptions;
  readonly #file: CachedFile<Parsed & { readonly read: WebhookSecretRead }>;
  #making: Promise<void> | undefined;
  /** What the keys were made from. */
  #master: Secret | undefined;
  readonly #keys = new Map<string, Promise<CryptoKey>>();
  /** What was logged last: what a file said, or an error. */
  #told: WebhookSecretRead | string | undefined;

  constructor(options: WebhookKeysOptions) {
    const { disk, clock, path } = options;
    this.#options = options;
    const parse = (content: FileContent) => ({ problems: [], read: parseWebhookSecret(content) });
    this.#file = new CachedFile({ disk, clock, path, bytesMax: webhookSecretBytesMax, parse });
  }

  /**
   * The keys that pushes of a caller are signed with now, the newest first; undefined for who is in no entry, and while the
   * secret cannot be read or made, which the log says once. Never rejects.
   */
  async keysOf(caller: CallerName): Promise<readonly CryptoKey[] | undefined> {
    const { callers, clock } = this.#options;
    const entry = callers.read().callers.find((one) => one.caller === caller);
    if (entry === undefined) return undefined;
    try {
      const master = await this.#findMaster();
      if (master === undefined) return undefined;
      const { current, previous } = sourcesOf(entry, clock.now());
      const names = [current, ...(previous ? [previous.name] : [])];
      return await Promise.all(names.map((name) => this.#key(master, name)));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#tell(why, why);
      return undefined;
    }
  }

  async #findMaster(): Promise<Secret | undefined> {
    if (this.#file.read().read.kind === "none") {
      await (this.#making ??= this.#make().finally(() => this.#making = undefined));
    }
    const { read } = this.#file.read();
    if (read.kind === "unusable") this.#tell(read, read.why, read.cure);
    if (read.kind !== "master") return undefined;
    this.#told = undefined;
    return read.master;
  }

  async #make(): Promise<void> {
    const made = await requireWebhookSecret(this.#options);
    if (made.kind === "busy") this.#tell("busy", "another process holds edit.lock");
    if (made.kind === "unusable") this.#tell(made.why, made.why, made.cure);
  }

  #key(master: Secret, name: string): Promise<CryptoKey> {
    if (master !== this.#master) this.#keys.clear();
    this.#master = master;
    const kept = this.#keys.get(name);
    if (kept !== undefined) return kept;
    if (this.#keys.size >= keysMax) this.#keys.delete(this.#keys.keys().next().value!);
    const key = derive(master, name).then(importKey);
    this.#keys.set(name, key);
    return key;
  }

  /** Once for each `problem`, until all was well in between. */
  #tell(problem: WebhookSecretRead | string, why: string, cure = "it is tried again with every push"): void {
    if (problem === this.#told) return;
    this.#told = problem;
    const file = this.#options.path;
    logger.error("Cannot sign pushes with {file}: {why}; they wait; {cure}", { file, why, cure });
  }
}

/** For each caller the key that stays and the one that goes. */
const keysMax = 2 * callersMax;

/** What a caller's secrets are made from beside the workspace's own. */
interface Sources {
  readonly current: string;
  readonly previous?: { readonly name: string; readonly until: TimeMs };
}

function sourcesOf({ by }: Caller, now: TimeMs): Sources {
  if (by.kind === "workspace") return { current: `workspace:${by.workspace}` };
  const { hash, previous } = by;
  const isRotating = previous !== undefined && now < previous.until && previous.hash !== hash;
  return { current: hash, ...(isRotating && { previous: { name: previous.hash, until: previous.until } }) };
}

async function derive(master: Secret, name: string): Promise<Uint8Array<ArrayBuffer>> {
  const key = await importKey(Uint8Array.fromHex(master.reveal()));
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`webhook ${name}`)));
}

async function importKey(bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}
