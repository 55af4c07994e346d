import { idShape } from "./promised.ts";

/**
 * Gives the ids that the text of a test file cites.
 *
 * A citation is `[ID]` or `[ID, ID]` in a string, or a string that is an id, as in a row of a table test whose name is
 * made with `[${row.id}]`. Of a name like `[SM1 ${row.id}]` those known ids count whose end is a string of the file.
 */
export function citationsIn(text: string, known: ReadonlySet<string>): ReadonlySet<string> {
  const cited = new Set<string>();
  const whole = new RegExp(`^${idShape.source}$`);
  for (const [, list] of text.matchAll(/\[((?:§\d|DM\d|SM\d|case )[^\]\n"'`${}]*)\]/g)) {
    for (const id of list!.split(",")) if (whole.test(id.trim())) cited.add(id.trim());
  }
  const strings = new Set([...text.matchAll(/(["'`])((?:(?!\1)[^\\\n])*)\1/g)].map(([, , inside]) => inside!));
  for (const inside of strings) if (whole.test(inside)) cited.add(inside);
  for (const [, prefix] of text.matchAll(/\[((?:§[\d.]+[a-z]?|DM\d+|SM\d+|case) (?:[a-z]+ )?)\$\{[^}]*\}\]/g)) {
    for (const id of known) if (id.startsWith(prefix!) && strings.has(id.slice(prefix!.length))) cited.add(id);
  }
  return cited;
}
