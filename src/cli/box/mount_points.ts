import { getLogger } from "@logtape/logtape";
import { type Disk, isMissing } from "@/workspace/disk.ts";

const logger = getLogger(["a2a", "box"]);

/**
 * The empty files and folders that boxes need in a workspace to lay something over: control paths that are not there. They are
 * removed when no box needs them any more, unless the owner put something in. Disposing waits until that is done.
 */
export class MountPoints implements AsyncDisposable {
  readonly #disk: Disk;
  readonly #boxes = new Map<string, number>();
  #removing: Promise<void> = Promise.resolve();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** Paths directly in the workspace's root, absolute, that a box needs as soon as this resolves. */
  async hold(paths: readonly string[]): Promise<void> {
    for (const path of paths) this.#boxes.set(path, (this.#boxes.get(path) ?? 0) + 1);
    await this.#removing; // what is being removed must not go under the new box
  }

  /** A box is gone. Never rejects. */
  giveBack(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      const boxes = this.#boxes.get(path)! - 1;
      if (boxes > 0) this.#boxes.set(path, boxes);
      else this.#boxes.delete(path);
    }
    return this.#removing = this.#removing.then(async () => {
      for (const path of paths) await this.#removeEmpty(path);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#removing;
  }

  async #removeEmpty(path: string): Promise<void> {
    try {
      if (this.isHeld(path)) return;
      const stamp = this.#disk.linkStampSync(path);
      const isEmpty = stamp?.kind === "file" ? stamp.bytes === 0 : stamp?.kind === "folder" &&
        (await this.#disk.list(path)).length === 0;
      if (isEmpty && !this.isHeld(path)) await this.#disk.remove(path);
    } catch (error) {
      if (!isMissing(error)) logger.warning("Cannot remove the mount point {path} of a box", { path, error });
    }
  }

  /** Says whether a box needs a path now: what is there is no file of the owner. */
  isHeld(path: string): boolean {
    return this.#boxes.has(path);
  }
}
