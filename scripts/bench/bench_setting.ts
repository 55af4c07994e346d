import type { BenchFolder } from "./bench_folder.ts";

/** What a bench is given. */
export interface BenchSetting {
  readonly folder: BenchFolder;
  readonly rounds: number;
  /** 1, or more for a quick look: sizes are divided by it. */
  readonly share: number;
}
