/**
 * A key or token in memory. It prints as `[redacted]` wherever a value is printed by mistake: in a template, in JSON, in
 * `Deno.inspect`, in a log field. Only `reveal` gives it away, so a search for that word finds every use.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself, for the one place that must send or compare it. */
  reveal(): string {
    return this.#value;
  }

  /** The last four characters of a secret of 12 or more; undefined for a shorter one (seed 000 "Security"). */
  hint(): string | undefined {
    return this.#value.length >= 12 ? this.#value.slice(-4) : undefined;
  }

  toString(): string {
    return redacted;
  }

  toJSON(): string {
    return redacted;
  }

  [Symbol.for("Deno.customInspect")](): string {
    return redacted;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return redacted;
  }
}

const redacted = "[redacted]";
