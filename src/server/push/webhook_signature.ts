/** What of a push is signed. */
export interface SignedPush {
  /** The same over retries; without a dot, which parts what is signed. */
  readonly id: string;
  /** When this try goes out, in milliseconds since 1970. */
  readonly at: number;
  /** The bytes that are sent. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/**
 * Makes the headers of Standard Webhooks 1.0 (standardwebhooks.com): id, time in seconds, and one signature a key, HMAC-SHA256
 * over `id.time.body`. Two keys while one is rotated: a receiver takes a push when one of them is right. Without keys there is
 * no signature.
 */
export async function webhookHeaders(push: SignedPush, keys: readonly CryptoKey[]): Promise<Record<string, string>> {
  const { id, at, body } = push;
  const seconds = Math.floor(at / 1000);
  const head = new TextEncoder().encode(`${id}.${seconds}.`);
  const signed = new Uint8Array(head.length + body.length);
  signed.set(head);
  signed.set(body, head.length);
  const signatures = await Promise.all(keys.map(async (key) => {
    const signature = await crypto.subtle.sign("HMAC", key, signed);
    return `v1,${new Uint8Array(signature).toBase64()}`;
  }));
  return {
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    ...(signatures.length > 0 && { "webhook-signature": signatures.join(" ") }),
  };
}

/** The id of the push of one status to one webhook. The id of a webhook may hold dots. */
export function webhookId({ taskId, configId, seq }: { taskId: string; configId: string; seq: number }): string {
  const written = configId.replaceAll("~", "~7e").replaceAll(".", "~2e");
  return `${taskId}_${written}_${seq}`;
}
