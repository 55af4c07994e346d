import type { Promised } from "./promised.ts";

/** The settings and the limits they set. */
export const settingRequirements: readonly Promised[] = [
  ["§16 secrets", "A secret prints as [redacted] wherever it is printed by mistake"],
  ["§16 names", "A setting has one name, made into a flag and a variable by one rule"],
  ["§16 precedence", "Flag counts over environment over file over default, and the source is known"],
  ["§16 defaults", "Every setting has the default that the documents give"],
  ["§16 environment-case", "Variables are compared without case"],
  ["§16 durations", "Durations are 00:30:00, 1.00:00:00, 30m, 1d or seconds"],
  ["§16 sizes", "Sizes are bytes or KiB, MiB, GiB"],
  ["§16 problems-at-once", "Unknown names and bad values are reported all at once"],
  ["§7 zero-is-none", "A limit of 0 means none"],
];
