import type { Config } from "@/config.ts";
import type { Random } from "@/random.ts";
import type { Clock } from "@/time/clock.ts";
import type { Disk } from "@/workspace/disk.ts";
import type { Output } from "./output.ts";

/** What a command works with. */
export interface CommandContext {
  readonly config: Config;
  readonly output: Output;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  /** The module that is run as the host's thread. */
  readonly hostUrl: URL;
}

/** How a command ends (product.md §3). */
export const exitCodes = {
  done: 0,
  failed: 1,
  wrongUsage: 2,
  unreachable: 3,
  stillRunning: 4,
  inputRequired: 5,
  broke: 70,
  interrupted: 130,
} as const;

/** One of `exitCodes`. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
