import type { Secret } from "@/workspace/secret.ts";
import { kitExtension } from "./kit_profiles.ts";

/** Who the anonymous are. */
export interface AnonymousCaller {
  readonly key: Secret;
  /** Names the required extension for who cannot, except where the kit tries what happens without it. */
  readonly namesExtension: boolean;
}

/** The messages with which the kit tries what happens to a client that does not name a required extension. */
const triesWithoutExtension = "tck-cap-ext-004-";

/** Gives a request what the kit's clients cannot send: a key, where there is none, and the name of the required extension. */
export async function asAnonymousCaller(
  request: Request,
  { key, namesExtension }: AnonymousCaller,
): Promise<Request> {
  const headers = new Headers(request.headers);
  if (!headers.has("X-API-Key") && !headers.has("Authorization")) headers.set("X-API-Key", key.reveal());
  if (!namesExtension) return new Request(request, { headers });
  const body = request.body === null ? undefined : await request.bytes();
  const isTried = body !== undefined && new TextDecoder().decode(body).includes(triesWithoutExtension);
  if (!isTried) headers.append("A2A-Extensions", kitExtension);
  return new Request(request.url, { method: request.method, headers, body, signal: request.signal });
}
