import type { Clock } from "@/time/clock.ts";
import type { Disk } from "@/workspace/disk.ts";

/** How long a look stands. */
const checkedMs = 1_000;

/** Says whether a file system has so much room left that new tasks may be taken; looks at most once a second. */
export class FreeRoom {
  readonly #options: FreeRoomOptions;
  #checkedAt = -Infinity;
  #isLeft = true;

  constructor(options: FreeRoomOptions) {
    this.#options = options;
  }

  async isLeft(): Promise<boolean> {
    const { clock, disk, folder, freeBytesMin } = this.#options;
    if (freeBytesMin > 0 && clock.elapsed() - this.#checkedAt >= checkedMs) {
      this.#checkedAt = clock.elapsed();
      this.#isLeft = await disk.freeBytes(folder) >= freeBytesMin;
    }
    return this.#isLeft;
  }
}

/** Where room is looked for, and how much is kept free. */
export interface FreeRoomOptions {
  readonly clock: Clock;
  readonly disk: Disk;
  readonly folder: string;
  /** 0: any room will do. */
  readonly freeBytesMin: number;
}
