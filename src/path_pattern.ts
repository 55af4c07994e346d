/**
 * Which paths are meant, by the names in them (docs/operating/isolation.md):
 *
 * - `*` stands for any characters of one name, none included, a leading dot too; `?` for one character; a name that is `**`
 *   for any number of names. All other characters are themselves.
 * - A pattern is looked for in every folder; one that begins with a slash only in the root.
 * - Upper and lower case are the same, for a file system may not tell them apart.
 * - What is in a folder that is meant is meant, too.
 */
export interface PathPattern {
  /** The names in the order of the path, folded. */
  readonly names: readonly string[];
  /** As it was written. */
  readonly text: string;
}

/** The most characters of a pattern. */
export const patternCharsMax = 200;

/**
 * Parses one pattern; undefined when it is none: what other languages of patterns would read as an order (`[a-z]`, `{a,b}`, `!`,
 * a backslash) is refused and not taken for a name, and so are empty names, `.` and `..`.
 */
export function parsePathPattern(text: string): PathPattern | undefined {
  if (text.length > patternCharsMax || /[[\]{}\\!\p{Cc}]/u.test(text)) return undefined;
  const isAnchored = text.startsWith("/");
  const names = text.replace(/^\//, "").replace(/\/$/, "").split("/");
  if (names.some((name) => name === "" || name === "." || name === ".." || /\*\*/.test(name) && name !== "**")) {
    return undefined;
  }
  const folded = names.map(foldLoosely);
  if (folded.includes("") || folded.at(-1) === "**") return undefined;
  return { text, names: isAnchored ? folded : ["**", ...folded] };
}

/** The names of a path that is relative and has slashes, as `matchesPath` compares them. */
export function foldPath(path: string): readonly string[] {
  return path.split("/").map(foldLoosely);
}

/** Says whether a folded path, or a folder on its way, is meant by a pattern. Its time is linear in the path. */
export function matchesPath({ names }: PathPattern, path: readonly string[]): boolean {
  let places = skipped(names, new Set([0]));
  for (const name of path) {
    const next = new Set<number>();
    for (const place of places) {
      if (names[place] === "**") next.add(place);
      else if (matchesName(names[place]!, name)) next.add(place + 1);
    }
    places = skipped(names, next);
    if (places.has(names.length)) return true;
  }
  return false;
}

/** What two names have in common when a file system without case takes them for one. */
export function foldName(name: string): string {
  return name.normalize("NFC").toUpperCase().toLowerCase();
}

/** As `foldName`, without what some file systems do not see: characters of no width, dots and spaces at the end. */
function foldLoosely(name: string): string {
  return foldName(name.replace(/\p{Default_Ignorable_Code_Point}/gu, "")).replace(/[. ]+$/, "");
}

/** The places, and those behind each `**` that stands for nothing. */
function skipped(names: readonly string[], places: Set<number>): Set<number> {
  for (const place of places) if (names[place] === "**") places.add(place + 1);
  return places;
}

/** A star takes as little as it can; when that fails, the last star alone takes more: no other way can help. */
function matchesName(pattern: string, name: string): boolean {
  let [at, place] = [0, 0];
  let [star, from] = [-1, 0];
  while (at < name.length) {
    if (pattern[place] === "*") [star, from] = [place++, at];
    else if (pattern[place] === name[at] || pattern[place] === "?") [place, at] = [place + 1, at + 1];
    else if (star >= 0) [place, at] = [star + 1, ++from];
    else return false;
  }
  while (pattern[place] === "*") place++;
  return place === pattern.length;
}
