/** A text whose head may hold fields between two lines of `---`. */
export interface FrontMatter {
  /** The text of each field, as far as it is one; the first of two with one name counts. */
  readonly fields: ReadonlyMap<string, string>;
  /** What comes behind the fields; the whole text when there are none. */
  readonly body: string;
}

/**
 * Takes the YAML front matter of a Markdown file apart, as far as a `SKILL.md` needs it: texts by name, plain, in quotes, or
 * as a block of indented lines. What else YAML can say is overlooked. A head without an end has no body. Never throws.
 */
export function readFrontMatter(text: string): FrontMatter {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/);
  if (lines[0]?.trimEnd() !== "---") return { fields: new Map(), body: text };
  const end = lines.findIndex((line, at) => at > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  const fields = new Map<string, string>();
  let taken: { readonly name: string; readonly lines: string[] } | undefined;
  const keep = () => taken && !fields.has(taken.name) && fields.set(taken.name, readValue(taken.lines));
  for (const line of lines.slice(1, end === -1 ? undefined : end)) {
    const [, name, start = ""] = /^([A-Za-z][\w-]*)\s*:(?:\s([^]*))?$/.exec(line) ?? [];
    if (name === undefined && !/^\S/.test(line)) {
      taken?.lines.push(line.trim());
    } else {
      keep();
      taken = name === undefined ? undefined : { name, lines: [start.trim()] };
    }
  }
  keep();
  return { fields, body: end === -1 ? "" : lines.slice(end + 1).join("\n") };
}

function readValue([start, ...rest]: readonly string[]): string {
  if (/^[|>][-+0-9]{0,2}(?:\s+#.*)?$/.test(start!)) return rest.join("\n").trim();
  const value = [start, ...rest].join(" ").trim();
  const [, single] = /^'((?:[^']|'')*)'/.exec(value) ?? [];
  if (single !== undefined) return single.replaceAll("''", "'");
  const [double] = /^"(?:[^"\\]|\\.)*"/.exec(value) ?? [];
  if (double !== undefined) return readQuoted(double);
  return value.replace(/(?:^|\s)#[^]*$/, "").trimEnd();
}

/** Double quotes have more escapes in YAML than in JSON; a text with one of those stays as it is written. */
function readQuoted(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted.slice(1, -1);
  }
}
