import { type AddressRange, parseAddressRange } from "./address_range.ts";
import { splitCommand } from "./command_words.ts";
import { modelProviders, type ModelReference, parseModelReference } from "./model_reference.ts";
import { parsePathPattern, type PathPattern } from "./path_pattern.ts";

/** What a setting's values look like. `parse` gives the value of a text, or undefined when the text is not one. */
export interface Kind<T> {
  /** Ends the sentence "expected ...". */
  readonly expects: string;
  parse(text: string): T | undefined;
}

/**
 * One setting: a row of the table below.
 *
 * A default is written as a person would write it and goes through the same parser as any other value, so the page that
 * is made from the table cannot differ from what the program does.
 */
export interface Setting<T> extends Kind<T> {
  /** Its name in a configuration file, and in messages: `MaxHops`. */
  readonly key: string;
  /** Its name in the environment, compared without case: `A2A__MaxHops`. */
  readonly env: string;
  /** Its name on the command line, without the dashes: `max-hops`. */
  readonly flag: string;
  /** Its value when nothing sets it; absent: then there is none. */
  readonly default?: string;
  /** True: the value is never shown. */
  readonly secret?: boolean;
  /** What it does, for the reference page and `--help`. */
  readonly doc: string;
}

/** Makes the row of a setting that always has a value. */
export function setting<T>(
  key: string,
  kind: Kind<T>,
  row: { readonly default: string; readonly doc: string; readonly secret?: boolean },
): Setting<T> & { readonly default: string } {
  return { ...names(key), ...kind, ...row };
}

/** Makes the row of a setting that may have no value. */
export function optional<T>(
  key: string,
  kind: Kind<T>,
  row: { readonly doc: string; readonly secret?: boolean },
): Setting<T> {
  return { ...names(key), ...kind, ...row };
}

/** The three names of a setting. `Card:Name` is `A2A__Card__Name` and `--card-name`; `Client:X` is `A2AClient__X`. */
function names(key: string): { key: string; env: string; flag: string } {
  const path = key.replaceAll(":", "__");
  const flag = key.replaceAll(":", "").replace(/(?<=[a-z0-9])(?=[A-Z])/g, "-").toLowerCase();
  return { key, env: key.startsWith("Client:") ? `A2A${path}` : `A2A__${path}`, flag };
}

/** One of some words, compared without case. */
export function choice<const T extends string>(...values: readonly T[]): Kind<T> {
  return {
    expects: `one of ${values.join(", ")}`,
    parse: (text) => values.find((value) => value === text.toLowerCase()),
  };
}

/** What 0 stands for: itself, or no limit, which is the value `Infinity`. */
export type Zero = "0 is none" | "0 is 0";

function limit(value: number | undefined, zero: Zero): number | undefined {
  return value === 0 && zero === "0 is none" ? Infinity : value;
}

/** A count. */
export function wholeNumber(zero: Zero = "0 is 0"): Kind<number> {
  return {
    expects: "a whole number from 0 to 1000000000",
    parse: (text) => limit(/^\d{1,10}$/.test(text) && Number(text) <= 1e9 ? Number(text) : undefined, zero),
  };
}

/** A length of time; its value is in milliseconds. */
export function duration(zero: Zero = "0 is 0"): Kind<number> {
  return {
    expects: "a duration like 30m, 1d, 00:30:00 or seconds",
    parse: (text) => limit(parseDurationMs(text), zero),
  };
}

/** A size; its value is in bytes. */
export function bytes(zero: Zero = "0 is 0"): Kind<number> {
  return {
    expects: "a size in bytes or like 512KiB, 10MiB or 1GiB",
    parse: (text) => limit(parseBytes(text), zero),
  };
}

/** Yes or no. */
export function flag(): Kind<boolean> {
  return {
    expects: "true or false",
    parse: (text) => /^true$/i.test(text) || (/^false$/i.test(text) ? false : undefined),
  };
}

/** One line for people to read: at least one character, no controls. */
export function line(charsMax: number): Kind<string> {
  return {
    expects: `a line of 1 to ${charsMax} characters`,
    parse: (text) => text !== "" && text.length <= charsMax && !/\p{Cc}/u.test(text) ? text : undefined,
  };
}

/** The path of a file. What is there is seen when it is read. */
export function path(): Kind<string> {
  return { expects: "the path of a file", parse: line(4096).parse };
}

/** A command with its arguments. */
export function commandWords(): Kind<readonly string[]> {
  return {
    expects:
      `a command like /usr/bin/tool --name "two words", without variables, pipes and the like: no shell reads it`,
    parse: splitCommand,
  };
}

/** Where a listener is bound. */
export interface ListenAddress {
  /** A name or an address, without brackets. */
  readonly hostname: string;
  /** 0: any that is free. */
  readonly port: number;
}

/** A host and a port; an IPv6 address in brackets. */
export function listenAddress(): Kind<ListenAddress> {
  return { expects: "an address with a port like 127.0.0.1:5099 or [::1]:5099", parse: parseListenAddress };
}

/** The address of a server, with the path that comes before its own paths. */
export function baseUrl(): Kind<URL> {
  return { expects: "an absolute http or https URL without user, query and fragment", parse: parseBaseUrl };
}

/** A model, by its provider and its name there. */
export function model(): Kind<ModelReference> {
  return {
    expects: `a model like anthropic:claude-sonnet-4-5, with a provider out of ${modelProviders.join(", ")}`,
    parse: parseModelReference,
  };
}

/** Addresses and ranges of addresses, with commas between them. */
export function addressRanges(): Kind<readonly AddressRange[]> {
  return {
    expects: "addresses and ranges like 127.0.0.1, 10.0.0.0/8, fd00::/8",
    parse(text) {
      const ranges = text.split(/[\s,]+/).filter((part) => part !== "").map(parseAddressRange);
      return ranges.every((range) => range !== undefined) ? ranges : undefined;
    },
  };
}

/** Names and patterns of files and folders, with commas between them. */
export function pathPatterns(): Kind<readonly PathPattern[]> {
  return {
    expects: "names or patterns like private, *.draft, /plans/**/budget.md",
    parse(text) {
      const patterns = text.split(",").map((part) => part.trim()).filter((part) => part !== "").map(parsePathPattern);
      return patterns.every((pattern) => pattern !== undefined) ? patterns : undefined;
    },
  };
}

function parseListenAddress(text: string): ListenAddress | undefined {
  const [, v6, host, digits] = /^(?:\[([^\]/]+)\]|([a-z0-9.-]{1,253})):(\d{1,5})$/i.exec(text) ?? [];
  const port = Number(digits);
  if (!(port <= 65_535) || (v6 !== undefined && !(v6.includes(":") && parseAddressRange(v6)))) return undefined;
  return { hostname: (v6 ?? host!).toLowerCase(), port };
}

function parseBaseUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  const isBare = url?.username === "" && url.password === "" && !/[?#]/.test(text);
  return url && isBare && /^https?:\/\//i.test(text) && text.length <= 2000 ? url : undefined;
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const durationMsMax = 36_500 * 86_400_000;

function parseDurationMs(text: string): number | undefined {
  const span = /^(?:(\d{1,5})\.)?([01]\d|2[0-3]):([0-5]\d):([0-5]\d(?:\.\d{1,7})?)$/.exec(text);
  const plain = /^(\d{1,13}(?:\.\d{1,7})?)(ms|s|m|h|d)?$/.exec(text);
  let ms: number;
  if (span) {
    const [, days = "0", hours, minutes, seconds] = span;
    ms = Number(days) * unitMs.d! + Number(hours) * unitMs.h! + Number(minutes) * unitMs.m! + Number(seconds) * 1000;
  } else if (plain) {
    ms = Number(plain[1]) * unitMs[plain[2] ?? "s"]!;
  } else {
    return undefined;
  }
  return ms <= durationMsMax ? Math.round(ms) : undefined;
}

const unitBytes: Readonly<Record<string, number>> = { "": 1, KIB: 2 ** 10, MIB: 2 ** 20, GIB: 2 ** 30, TIB: 2 ** 40 };

function parseBytes(text: string): number | undefined {
  const [, count, unit = ""] = /^(\d{1,15}(?:\.\d{1,3})?) ?([KMGT]iB)?$/i.exec(text) ?? [];
  const size = Number(count) * unitBytes[unit.toUpperCase()]!;
  const whole = unit === "" ? size : Math.round(size); // half a byte is a mistake, half a GiB is not
  return Number.isSafeInteger(whole) ? whole : undefined;
}
