/** C0, C1, and the controls that turn the direction of writing (threats.md). */
const controls = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** The first line of a text that is not blank, without control characters; undefined when there is none. */
export function firstPlainLine(text: string): string | undefined {
  for (const line of text.split(/[\r\n\u0085\u2028\u2029]/)) {
    const clean = line.replace(controls, "").trim();
    if (clean !== "") return clean;
  }
  return undefined;
}

/** A text as one line of at most `charsMax` characters, without control characters; an ellipsis stands for what was cut. */
export function plainLine(text: string, charsMax: number): string {
  const line = text.replace(/[\s\u0085]+/g, " ").replace(controls, "").trim();
  const characters = [...line];
  return characters.length <= charsMax ? line : `${characters.slice(0, charsMax - 1).join("").trimEnd()}…`;
}
