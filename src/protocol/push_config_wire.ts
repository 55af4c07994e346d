import type { FieldReader, TextRule } from "./field_reader.ts";
import type { PushConfig } from "./request_types.ts";

/**
 * Reads a webhook as its caller sets it (A2A 1.0 §4.3.1, product.md §5.7).
 *
 * The URL must be absolute http or https without a user in it; where it leads is judged when it is connected to. Nothing may hold
 * CR, LF or another character that is no plain ASCII, since all of it goes into a request of ours. An authentication needs both
 * its scheme and its credentials. A `taskId` in it is the business of who calls.
 */
export function readPushConfig(fields: FieldReader): PushConfig {
  const id = fields.text("id", { charsMax: 100, fits: (text) => idShape.test(text), expects: idExpects });
  const token = fields.text("token", header);
  const authentication = readAuthentication(fields.nested("authentication"));
  return {
    url: fields.requiredText("url", url),
    ...(id !== undefined && { id }),
    ...(token !== undefined && { token }),
    ...(authentication !== undefined && { authentication }),
  };
}

function readAuthentication(fields: FieldReader | undefined): PushConfig["authentication"] {
  if (fields === undefined) return undefined;
  return { scheme: fields.requiredText("scheme", scheme), credentials: fields.requiredText("credentials", header) };
}

/** No leading dot: it is a segment of a path. */
const idShape = /^(?!\.)[A-Za-z0-9._~:-]+$/;
const idExpects = "of A-Z, a-z, 0-9 and . _ ~ : -, not starting with a dot";

const header: TextRule = {
  charsMax: 4096,
  fits: (text) => /^[!-~](?:[ -~]*[!-~])?$/.test(text),
  expects: "plain ASCII without line breaks, and without spaces around it",
};

const scheme: TextRule = {
  charsMax: 64,
  fits: (text) => /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(text),
  expects: "the name of an HTTP authentication scheme, such as Bearer",
};

const url: TextRule = {
  charsMax: 2048,
  fits: isWebhookUrl,
  expects: "an absolute http or https URL without a user, spaces or backslashes",
};

/** Judged as it is written too: the URL parser would repair what it should not have to. */
function isWebhookUrl(text: string): boolean {
  if (!/^https?:\/\/[!-~]+$/i.test(text) || text.includes("\\") || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === "" && password === "";
}
