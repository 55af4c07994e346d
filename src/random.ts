/** The only source of chance. No other module calls `crypto.randomUUID`, `crypto.getRandomValues` or `Math.random`. */
export interface Random {
  /** A version 4 UUID in lower case. */
  uuid(): string;
  /** `count` bytes, in lower-case hex: `2 * count` characters. */
  hex(count: number): string;
  /** A number from 0 (included) to 1 (excluded), for spreading retries; not for secrets. */
  fraction(): number;
}

/** The operating system's generator. */
export const systemRandom: Random = {
  uuid: () => crypto.randomUUID(),
  hex: (count) => crypto.getRandomValues(new Uint8Array(count)).toHex(),
  fraction: () => Math.random(),
};
