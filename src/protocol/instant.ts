/**
 * Reads a time in ISO 8601 as ProtoJSON has it (RFC 3339: date, time, `Z` or an offset), as milliseconds since 1970; undefined
 * when it is none. What is finer than a millisecond is rounded up, so that "at or after" holds for times in milliseconds.
 */
export function instantMs(text: string): number | undefined {
  const match = shape.exec(text);
  if (match === null) return undefined;
  const [, date, time, fraction = "", zone] = match;
  const millis = Date.parse(`${date}T${time}.${fraction.slice(0, 3).padEnd(3, "0")}${zone!.toUpperCase()}`);
  const isDay = new Date(`${date}T00:00:00Z`).toJSON()?.startsWith(date!) === true; // the parser takes 30 February
  if (Number.isNaN(millis) || !isDay) return undefined;
  return /[1-9]/.test(fraction.slice(3)) ? millis + 1 : millis;
}

const shape =
  /^(\d{4}-\d\d-\d\d)[Tt]([01]\d:[0-5]\d:[0-5]\d|2[0-3]:[0-5]\d:[0-5]\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)$/;
