/** How much JSON a body may hold (product.md §5.6). */
export interface JsonLimits {
  /** Objects and arrays inside each other, the outermost counted. */
  readonly depthMax: number;
  /** Objects, arrays, strings, numbers and literals in all, and as many keys. */
  readonly valuesMax: number;
  /** Elements of one array that is named `parts`. */
  readonly partsMax: number;
}

/** The first limit that a body breaks. */
export interface JsonExcess {
  readonly limit: "depth" | "values" | "parts";
  readonly max: number;
}

/** What a request of a caller may hold. */
export const requestJsonLimits: JsonLimits = { depthMax: 64, valuesMax: 100_000, partsMax: 256 };

/**
 * Finds the first limit that JSON text in UTF-8 breaks, or undefined, before `JSON.parse` is asked to build it.
 *
 * Needs constant memory and linear time, and stops where the limit is broken: a body of millions of values costs nothing. Any
 * bytes are fine, it never throws: what is no JSON may pass, and `JSON.parse` then refuses it. An array named `parts` inside
 * another one is a caller's data and counts as values only.
 */
export function findJsonExcess(bytes: Uint8Array, limits: JsonLimits = requestJsonLimits): JsonExcess | undefined {
  const scan = new Scan(limits);
  for (let at = 0; at < bytes.length && scan.excess === undefined; at++) {
    const byte = bytes[at]!;
    if (byte === quote) {
      const end = endOfString(bytes, at + 1);
      scan.string(bytes.subarray(at + 1, end));
      at = end;
    } else if (byte === 0x7b || byte === 0x5b) {
      scan.open(byte === 0x7b);
    } else if (byte === 0x7d || byte === 0x5d) {
      scan.close();
    } else if (byte === 0x2c || byte === 0x3a) {
      scan.separator(byte === 0x2c);
    } else if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      scan.space();
    } else {
      scan.scalar();
    }
  }
  return scan.excess;
}

const quote = 0x22;
const backslash = 0x5c;
/** `parts` with every letter as `\u0070`. */
const partsKeyBytesMax = 30;

class Scan {
  excess: JsonExcess | undefined;
  readonly #limits: JsonLimits;
  /** 1 where an object is open, by depth. */
  readonly #isObject: Uint8Array;
  #depth = 0;
  #values = 0;
  #keys = 0;
  /** The depth of the array named `parts` that is open; 0 for none. */
  #partsDepth = 0;
  #parts = 0;
  #isKeyNext = false;
  /** The last key, of those whose object is open, was `parts`. */
  #isParts = false;
  #inScalar = false;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
    this.#isObject = new Uint8Array(limits.depthMax + 2);
  }

  string(content: Uint8Array): void {
    this.#inScalar = false;
    if (!this.#isKeyNext) return this.#value();
    this.#isKeyNext = false;
    this.#isParts = isPartsKey(content);
    if (++this.#keys > this.#limits.valuesMax) this.#exceeds("values", this.#limits.valuesMax);
  }

  open(isObject: boolean): void {
    this.#inScalar = false;
    const isParts = !isObject && this.#isParts && this.#partsDepth === 0;
    this.#value();
    if (++this.#depth > this.#limits.depthMax) return this.#exceeds("depth", this.#limits.depthMax);
    this.#isObject[this.#depth] = isObject ? 1 : 0;
    this.#isKeyNext = isObject;
    if (!isParts) return;
    this.#partsDepth = this.#depth;
    this.#parts = 0;
  }

  close(): void {
    this.#inScalar = this.#isKeyNext = this.#isParts = false;
    if (this.#depth > 0) this.#depth--;
    if (this.#depth < this.#partsDepth) this.#partsDepth = 0;
  }

  separator(isComma: boolean): void {
    this.#inScalar = false;
    this.#isKeyNext = isComma && this.#isObject[this.#depth] === 1;
  }

  space(): void {
    this.#inScalar = false;
  }

  scalar(): void {
    if (this.#inScalar) return;
    this.#inScalar = true;
    this.#value();
  }

  #value(): void {
    if (++this.#values > this.#limits.valuesMax) this.#exceeds("values", this.#limits.valuesMax);
    const isPart = this.#partsDepth > 0 && this.#depth === this.#partsDepth;
    if (isPart && ++this.#parts > this.#limits.partsMax) this.#exceeds("parts", this.#limits.partsMax);
  }

  #exceeds(limit: JsonExcess["limit"], max: number): void {
    this.excess ??= { limit, max };
  }
}

/** Where the quote stands that ends the string that begins at `from`; the length of `bytes` when none does. */
function endOfString(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return Math.min(at, bytes.length);
}

function isPartsKey(content: Uint8Array): boolean {
  if (content.length < 5 || content.length > partsKeyBytesMax) return false;
  const text = String.fromCharCode(...content);
  if (!text.includes("\\")) return text === "parts";
  try {
    return JSON.parse(`"${text}"`) === "parts";
  } catch {
    return false;
  }
}
