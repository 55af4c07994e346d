/**
 * Splits a command into its words, as a shell would as far as this goes: words are parted by white space, and what is between
 * single or double quotes belongs to one word. A backslash takes the next character as it is, within double quotes only `"` and a
 * backslash, within single quotes nothing.
 *
 * Undefined when there is no word, a quote is open at the end, or a character stands outside of quotes that only a shell would
 * understand (`| & ; < > ( ) $` and the back-tick): nothing is expanded here, and who wrote them expects it.
 */
export function splitCommand(text: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  const pieces = /\s+|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\|&;<>()$`]+)/suy;
  while (pieces.lastIndex < text.length) {
    const match = pieces.exec(text);
    if (match === null) return undefined;
    const [, single, double, escaped, plain] = match;
    const piece = single ?? double?.replace(/\\(["\\])/g, "$1") ?? escaped ?? plain;
    if (piece !== undefined) word = (word ?? "") + piece;
    else if (word !== undefined) words.push(word), word = undefined;
  }
  if (word !== undefined) words.push(word);
  return words.length === 0 || words[0] === "" || text.includes("\0") ? undefined : words;
}
