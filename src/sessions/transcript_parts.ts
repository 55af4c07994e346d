import type { Disk } from "@/workspace/disk.ts";
import { transcriptName } from "./session_scope.ts";

/**
 * The older files of transcripts: which number the newest of a scope has (data-model.md 7).
 *
 * The folder is listed once, by the first who asks: only the holder of `host.lock` makes such files, and a listing at
 * each opening would cost as much as there are conversations. A file that someone removes meanwhile leaves its number.
 */
export class TranscriptParts {
  readonly #disk: Disk;
  readonly #folder: string;
  #newest: Promise<Map<string, number>> | undefined;

  constructor(options: { readonly disk: Disk; readonly folder: string }) {
    this.#disk = options.disk;
    this.#folder = options.folder;
  }

  /** The number of the newest older file of a scope; 0 when there is none. Rejects with the disk's error. */
  async newest(scope: string): Promise<number> {
    this.#newest ??= this.#list();
    try {
      return (await this.#newest).get(scope) ?? 0;
    } catch (error) {
      this.#newest = undefined; // the next one lists again
      throw error;
    }
  }

  /** A file of a scope was put aside under this number, by one who asked for the newest before. */
  async added(scope: string, part: number): Promise<void> {
    (await this.#newest)?.set(scope, part);
  }

  /** The files of a scope are gone. */
  async removed(scope: string): Promise<void> {
    (await this.#newest)?.delete(scope);
  }

  async #list(): Promise<Map<string, number>> {
    const newest = new Map<string, number>();
    for (const { name } of await this.#disk.list(this.#folder)) {
      const { scope, part = 0 } = transcriptName(name) ?? {};
      if (scope !== undefined && part > 0) newest.set(scope, Math.max(newest.get(scope) ?? 0, part));
    }
    return newest;
  }
}
