import { join } from "node:path";
import type { Random } from "@/random.ts";
import { writeAtomically } from "@/workspace/atomic_write.ts";
import type { Disk } from "@/workspace/disk.ts";
import { makeOwnedFolder } from "@/workspace/owned_folder.ts";

/** Files of ours that are seen in the box in the place of the machine's, absolute. */
export interface BoxFiles {
  /** What lies over a hidden file. */
  readonly empty: string;
  /** The one user there is: the machine's own list names its people. */
  readonly passwd: string;
  readonly group: string;
}

/** Writes the files, in a folder that no caller sees: `.volcanic/box` of a workspace. Rejects with the disk's error. */
export async function makeBoxFiles(
  folder: string,
  { disk, random }: { readonly disk: Disk; readonly random: Random },
): Promise<BoxFiles> {
  await makeOwnedFolder(disk, folder);
  const write = async (name: string, text: string) => {
    const path = join(folder, name);
    await writeAtomically(disk, path, { text, random });
    return path;
  };
  return {
    empty: await write("empty", ""),
    passwd: await write(
      "passwd",
      "agent:x:1000:1000:agent:/home/agent:/bin/bash\nnobody:x:65534:65534::/:/bin/false\n",
    ),
    group: await write("group", "agent:x:1000:\nnogroup:x:65534:\n"),
  };
}
