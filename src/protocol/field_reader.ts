import { A2AError, type FieldViolation } from "./errors.ts";
import { instantMs } from "./instant.ts";

/** A JSON object as it came from the wire. Members are read with `Object.hasOwn`, never by the prototype. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Reads a request with `read`; what it gives, or `INVALID_PARAMS` with every violation that it met.
 *
 * While a field is broken its reader gives a stand-in, so `read` goes on and all violations are told at once. Never throws for
 * what the JSON holds.
 */
export function readRequest<T>(json: unknown, read: (fields: FieldReader) => T): T | A2AError {
  const violations = new Violations();
  const fields = new FieldReader(isJsonObject(json) ? json : {}, "", violations);
  if (!isJsonObject(json)) {
    violations.add("", `must be an object, got ${typeNameOf(json)}`);
    return violations.toError();
  }
  const value = read(fields);
  return violations.isEmpty ? value : violations.toError();
}

/** What a text must be like. Lengths are in UTF-16 units unless the name says bytes. */
export interface TextRule {
  readonly charsMax: number;
  readonly bytesMax?: number;
  /** May be "" or white space. */
  readonly mayBeBlank?: boolean;
  readonly fits?: (text: string) => boolean;
  /** Ends the sentence "must be ..." when `fits` says no. */
  readonly expects?: string;
}

/**
 * Reads the fields of one ProtoJSON object (A2A ADR-001): camelCase or snake_case, JSON null as unset, unknown members ignored.
 *
 * Both spellings of a field at once are a violation, since it would be a guess which one counts (product.md §5.1).
 */
export class FieldReader {
  readonly #json: JsonObject;
  readonly #path: string;
  readonly #violations: Violations;

  constructor(json: JsonObject, path: string, violations: Violations) {
    this.#json = json;
    this.#path = path;
    this.#violations = violations;
  }

  /** The value as it is, null too; undefined when the field is absent. */
  raw(name: string): unknown {
    const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const hasCamel = Object.hasOwn(this.#json, name);
    if (snake === name || !Object.hasOwn(this.#json, snake)) return hasCamel ? this.#json[name] : undefined;
    if (hasCamel) this.refuse(name, `is given twice, as ${name} and as ${snake}`);
    return this.#json[hasCamel ? name : snake];
  }

  /** The value, or undefined when the field is unset. */
  value(name: string): unknown {
    return this.raw(name) ?? undefined;
  }

  /** Notes a violation of a field; "" is this object itself. */
  refuse(name: string, description: string): void {
    this.#violations.add(this.#pathOf(name), description);
  }

  text(name: string, rule: TextRule): string | undefined {
    return this.#as(name, (value) => {
      const problem = textProblem(value, rule);
      return problem === undefined ? value as string : this.#refused(name, problem);
    });
  }

  requiredText(name: string, rule: TextRule): string {
    if (this.value(name) === undefined) this.refuse(name, "is required");
    return this.text(name, rule) ?? "";
  }

  flag(name: string): boolean | undefined {
    return this.#as(name, (value) => {
      return typeof value === "boolean"
        ? value
        : this.#refused(name, `must be true or false, got ${typeNameOf(value)}`);
    });
  }

  /** A whole number, also in a string, as ProtoJSON allows. */
  wholeNumber(name: string, range: { readonly min: number; readonly max: number }): number | undefined {
    return this.#as(name, (value) => {
      const number = typeof value === "string" && jsonNumber.test(value) ? Number(value) : value;
      if (typeof number === "number" && Number.isInteger(number) && number >= range.min && number <= range.max) {
        return number + 0; // no negative zero
      }
      return this.#refused(name, `must be a whole number from ${range.min} to ${range.max}`);
    });
  }

  /** One of `names`, by name or by its place in them; the first stands for unset. */
  enumName<N extends string>(name: string, names: readonly [string, ...N[]]): N | undefined {
    return this.#as(name, (value) => {
      const place = typeof value === "number" ? value : names.indexOf(value as N);
      if (place === 0) return undefined;
      return names[place] as N | undefined ?? this.#refused(name, `must be one of ${names.slice(1).join(", ")}`);
    });
  }

  texts(name: string, rule: TextRule & { readonly itemsMax: number }): readonly string[] | undefined {
    return this.#items(name, rule.itemsMax)?.flatMap((item, at) => {
      const problem = textProblem(item, rule);
      if (problem !== undefined) this.refuse(`${name}[${at}]`, problem);
      return problem === undefined ? [item as string] : [];
    });
  }

  /** Free JSON of the caller, kept as it is: an object of at most so many characters. */
  struct(name: string, charsMax: number): JsonObject | undefined {
    return this.#as(name, (value) => {
      if (!isJsonObject(value)) return this.#refused(name, `must be an object, got ${typeNameOf(value)}`);
      if (JSON.stringify(value).length <= charsMax) return value;
      return this.#refused(name, `must be at most ${charsMax} characters of JSON`);
    });
  }

  nested(name: string): FieldReader | undefined {
    return this.#as(name, (value) => {
      if (isJsonObject(value)) return new FieldReader(value, this.#pathOf(name), this.#violations);
      return this.#refused(name, `must be an object, got ${typeNameOf(value)}`);
    });
  }

  nestedItems(name: string, itemsMax: number): readonly FieldReader[] | undefined {
    return this.#items(name, itemsMax)?.flatMap((item, at) => {
      if (isJsonObject(item)) return [new FieldReader(item, `${this.#pathOf(name)}[${at}]`, this.#violations)];
      this.refuse(`${name}[${at}]`, `must be an object, got ${typeNameOf(item)}`);
      return [];
    });
  }

  /** A time in ISO 8601, as milliseconds since 1970, rounded up. */
  instantMs(name: string): number | undefined {
    return this.#as(name, (value) => {
      const at = typeof value === "string" ? instantMs(value) : undefined;
      return at ?? this.#refused(name, "must be a time like 2026-10-08T12:00:00.000Z");
    });
  }

  #items(name: string, itemsMax: number): readonly unknown[] | undefined {
    return this.#as(name, (value) => {
      if (!Array.isArray(value)) return this.#refused(name, `must be an array, got ${typeNameOf(value)}`);
      if (value.length <= itemsMax) return value;
      return this.#refused(name, `has ${value.length} elements, and ${itemsMax} are allowed`);
    });
  }

  #as<T>(name: string, read: (value: unknown) => T | undefined): T | undefined {
    const value = this.value(name);
    return value === undefined ? undefined : read(value);
  }

  #refused(name: string, description: string): undefined {
    this.refuse(name, description);
    return undefined;
  }

  #pathOf(name: string): string {
    return this.#path === "" || name === "" ? this.#path + name : `${this.#path}.${name}`;
  }
}

/** The violations of one request, in the order they were met; of very many the first, with their number. */
export class Violations {
  readonly #kept: FieldViolation[] = [];
  #count = 0;

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  add(field: string, description: string): void {
    const isKnown = this.#kept.some((kept) => kept.field === field && kept.description === description);
    if (isKnown || ++this.#count > keptMax) return;
    this.#kept.push({ field, description });
  }

  toError(): A2AError {
    const { field, description } = this.#kept[0]!;
    const more = this.#count === 1 ? "" : ` (and ${this.#count - 1} more)`;
    const message = `Cannot read the request: ${field === "" ? "it" : field} ${description}${more}`;
    return new A2AError("INVALID_PARAMS", { message, fieldViolations: this.#kept });
  }
}

const keptMax = 300;
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Says whether a JSON value is an object: no array, not null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Says what JSON type a value has, for a violation: "an array". */
export function typeNameOf(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Why a value is no text of that rule. Never quotes it: it could be a secret. */
function textProblem(value: unknown, { charsMax, bytesMax, mayBeBlank, fits, expects }: TextRule): string | undefined {
  if (typeof value !== "string") return `must be a string, got ${typeNameOf(value)}`;
  if (mayBeBlank !== true && value.trim() === "") return "must not be blank";
  if (value.length > charsMax) return `must be at most ${charsMax} characters`;
  if (bytesMax !== undefined && isLonger(value, bytesMax)) return `must be at most ${bytesMax} bytes`;
  return fits === undefined || fits(value) ? undefined : `must be ${expects}`;
}

/** Counts bytes of UTF-8 only where the number of characters does not tell. */
function isLonger(text: string, bytesMax: number): boolean {
  return text.length > bytesMax || (text.length * 3 > bytesMax && new TextEncoder().encode(text).length > bytesMax);
}
