import type { Clock } from "@/time/clock.ts";
import { sha256Hex } from "@/workspace/sha256.ts";

/** An answer that its reader may keep and ask for again. */
export interface CacheableContent {
  /** What it is the content of. When the content of one name changes, its time does. */
  readonly resource: string;
  readonly text: string;
  readonly contentType: string;
  readonly cacheControl: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Answers GET and HEAD with `ETag` and `Last-Modified`, or with 304 to who has this content already (RFC 9110 §13).
 *
 * The time is when content was first seen to be what it is: files can be removed, so no time of a file would do. It has whole
 * seconds, so two changes within one second get two times, the second of them up to a second ahead.
 */
export class CacheableAnswers {
  readonly #clock: Clock;
  readonly #seen = new Map<string, { readonly tag: string; readonly seconds: number }>();

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  answer(request: Request, { resource, text, contentType, cacheControl, headers }: CacheableContent): Response {
    const tag = sha256Hex(text).slice(0, 32);
    const seconds = this.#seenSince(resource, tag);
    const all = {
      ...headers,
      "ETag": `"${tag}"`,
      "Last-Modified": new Date(seconds * 1000).toUTCString(),
      "Cache-Control": cacheControl,
    };
    if (isKnown(request.headers, tag, seconds)) return new Response(null, { status: 304, headers: all });
    const bytes = new TextEncoder().encode(text);
    // Said here, since HEAD loses the body on its way out and the runtime would then say 0.
    const size = { "Content-Type": contentType, "Content-Length": String(bytes.length) };
    return new Response(bytes, { headers: { ...all, ...size } });
  }

  #seenSince(resource: string, tag: string): number {
    const seen = this.#seen.get(resource);
    if (seen?.tag === tag) return seen.seconds;
    const seconds = Math.max(Math.floor(this.#clock.now() / 1000), (seen?.seconds ?? 0) + 1);
    this.#seen.delete(resource);
    this.#seen.set(resource, { tag, seconds });
    // One that is forgotten only gets a newer time.
    if (this.#seen.size > resourcesMax) this.#seen.delete(this.#seen.keys().next().value!);
    return seconds;
  }
}

const resourcesMax = 1000;

/** Tags are compared weakly; when there are some, the time is not looked at. */
function isKnown(headers: Headers, tag: string, seconds: number): boolean {
  const tags = headers.get("If-None-Match");
  if (tags !== null) {
    return tags.trim() === "*" || [...tags.matchAll(/(?:W\/)?"([^"]*)"/g)].some(([, known]) => known === tag);
  }
  const since = headers.get("If-Modified-Since");
  return since !== null && Date.parse(since) >= seconds * 1000;
}
