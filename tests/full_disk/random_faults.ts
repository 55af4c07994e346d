import type { DiskOperation, FaultyDisk } from "@tests/fakes/faulty_disk.ts";
import type { SeededRandom } from "@tests/fakes/seeded_random.ts";

/** What fails on a full or broken disk. Reading and listing go on. */
const failing: readonly DiskOperation[] = [
  ...["write", "flush", "createNew", "rename", "syncFolder", "truncate", "remove"] as const,
  ...["openAppend", "makeFolder"] as const,
];

/** Which faults are in force. */
export interface Faults {
  /** Undoing a failed step may fail too: what was refused may then be there after a crash. */
  readonly isDouble: boolean;
  end(): void;
}

/** Makes one operation fail, or one of each of two kinds, or none: by chance. */
export function armFaults(disk: FaultyDisk, random: SeededRandom): Faults {
  const count = random.weighted([[5, 0], [5, 1], [2, 2]]);
  const rules = Array.from({ length: count }, () => {
    const on = random.pick(failing);
    return disk.rule({ on, code: random.pick(["EIO", "ENOSPC"]), times: 1 });
  });
  return { isDouble: count > 1, end: () => rules.forEach((rule) => rule.end()) };
}
