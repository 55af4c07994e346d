import type { ListenAddress } from "@/setting_kinds.ts";

/**
 * A command that says hi to the assistant with a key: the `SendMessage` of seed 000 "curl examples", ready to be pasted.
 *
 * `address` is what comes before `/a2a`. The line holds the key: it is for the owner's terminal only.
 */
export function curlLine(address: string, key: string): string {
  const message = { role: "ROLE_USER", messageId: "m1", parts: [{ text: "hi" }] };
  const body = { jsonrpc: "2.0", id: "1", method: "SendMessage", params: { message } };
  return `curl -s -H 'X-API-Key: ${key}' -H 'Content-Type: application/json' ${address}/a2a -d '${
    JSON.stringify(body)
  }'`;
}

/** Where a listener is reached from its own machine: one on all addresses is on the loopback one too. */
export function localAddress({ hostname, port }: ListenAddress): string {
  const near = hostname === "0.0.0.0" ? "127.0.0.1" : hostname === "::" ? "::1" : hostname;
  return `http://${near.includes(":") ? `[${near}]` : near}:${port}`;
}
