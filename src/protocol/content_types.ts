/** The media types of A2A over HTTP. */
export type JsonMediaType = "application/json" | "application/a2a+json";

/**
 * Says whether a request with this `Content-Type` may hold JSON of A2A, on either binding.
 *
 * Taken are both of A2A's media types and none at all, in UTF-8. Asked before the body is parsed (protocol.md P3, P9).
 */
export function isJsonContentType(contentType: string | null): boolean {
  if (contentType === null || contentType.trim() === "") return true;
  const [mediaType, ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice("charset=".length);
  const isUtf8 = charset === undefined || /^"?utf-?8"?$/.test(charset);
  return isUtf8 && isJsonMediaType(mediaType!);
}

/**
 * Chooses the media type of an answer over HTTP+JSON (protocol.md C2): `application/a2a+json` when the caller names it in `Accept`,
 * or in `Content-Type` while `Accept` names neither; else `application/json`, which every client reads.
 *
 * Of both in `Accept` the one of higher weight wins, and `application/a2a+json` when they weigh the same. Ranges (`*`) name nothing.
 */
export function answerMediaType(request: { accept: string | null; contentType: string | null }): JsonMediaType {
  const weights = weightsOf(request.accept ?? "");
  const [plain, a2a] = [weights.get("application/json"), weights.get("application/a2a+json")];
  if (plain === undefined && a2a === undefined) {
    const given = (request.contentType ?? "").split(";")[0]!.trim().toLowerCase();
    return given === "application/a2a+json" ? given : "application/json";
  }
  return (a2a ?? 0) > 0 && (a2a ?? 0) >= (plain ?? 0) ? "application/a2a+json" : "application/json";
}

function weightsOf(accept: string): ReadonlyMap<JsonMediaType, number> {
  const weights = new Map<JsonMediaType, number>();
  for (const range of accept.split(",")) {
    const [mediaType, ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    if (!isJsonMediaType(mediaType!)) continue;
    const weight = Number(parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1);
    weights.set(mediaType, Number.isNaN(weight) ? 1 : weight);
  }
  return weights;
}

function isJsonMediaType(mediaType: string): mediaType is JsonMediaType {
  return mediaType === "application/json" || mediaType === "application/a2a+json";
}

/**
 * Returns the media type of a `Content-Type` without its parameters, in lower case; undefined when there is none or it is
 * malformed. The value is a stranger's, the result is safe to show: `type/subtype` in the characters of RFC 6838.
 */
export function bareMediaType(contentType: string | null): string | undefined {
  const bare = (contentType ?? "").split(";", 1)[0]!.trim().toLowerCase();
  return /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/.test(bare) ? bare : undefined;
}
