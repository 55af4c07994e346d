/**
 * Returns the file name of a `Content-Disposition` (RFC 6266): `filename*` where it can be decoded, else `filename`;
 * undefined when there is neither, or an empty one.
 *
 * The value is a stranger's: nothing is thrown, and what is returned is any text, so clean it before it becomes a path.
 * Names in plain UTF-8, which many servers send, are read as such.
 */
export function dispositionFileName(value: string | null): string | undefined {
  if (value === null) return undefined;
  const parameters = parametersOf(value.slice(0, charsMax));
  const extended = decodeExtended(parameters.get("filename*"));
  return extended || utf8OrAsItIs(parameters.get("filename")) || undefined;
}

const charsMax = 8192;

/** The parameters behind the type, names in lower case; of two with one name the first. */
function parametersOf(value: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (let at = endOf(value, 0, ";"); at < value.length;) {
    const nameEnd = endOf(value, ++at, "=;");
    const name = value.slice(at, nameEnd).trim().toLowerCase();
    if (value[nameEnd] !== "=") {
      at = nameEnd;
      continue;
    }
    const { text, end } = readValue(value, nameEnd + 1);
    if (!parameters.has(name)) parameters.set(name, text);
    at = endOf(value, end, ";");
  }
  return parameters;
}

/** A token, up to the next `;`, or a quoted string, in which `\` takes the next character as it is. */
function readValue(value: string, from: number): { readonly text: string; readonly end: number } {
  let at = from;
  while (value[at] === " " || value[at] === "\t") at++;
  if (value[at] !== '"') {
    const end = endOf(value, at, ";");
    return { text: value.slice(at, end).trim(), end };
  }
  let text = "";
  for (at++; at < value.length && value[at] !== '"'; at++) {
    if (value[at] === "\\" && at + 1 < value.length) at++;
    text += value[at];
  }
  return { text, end: at };
}

/** Where the first of `marks` is, from `from` on; the end of the text when there is none. */
function endOf(text: string, from: number, marks: string): number {
  let at = from;
  while (at < text.length && !marks.includes(text[at]!)) at++;
  return at;
}

/** `UTF-8'en'%e2%82%ac.pdf` (RFC 8187); undefined when it is malformed or of another charset. */
function decodeExtended(value: string | undefined): string | undefined {
  const [, charset, encoded] = /^(utf-8|iso-8859-1)'[^']*'([^']*)$/i.exec(value ?? "") ?? [];
  if (charset === undefined || encoded === undefined) return undefined;
  if (!/^(?:%[0-9a-f]{2}|[A-Za-z0-9!#$&+\-.^_`|~])*$/i.test(encoded)) return undefined;
  const bytes = encoded.replace(/%(..)/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
  return charset.toLowerCase() === "utf-8" ? decodeUtf8(bytes) : bytes;
}

/** A header's bytes come as Latin-1. */
function utf8OrAsItIs(text: string | undefined): string | undefined {
  return text === undefined ? undefined : decodeUtf8(text) ?? text;
}

/** A text whose characters are bytes, as UTF-8; undefined when it is none. */
function decodeUtf8(bytes: string): string | undefined {
  if (/[^\0-\xff]/.test(bytes)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
  } catch {
    return undefined;
  }
}
