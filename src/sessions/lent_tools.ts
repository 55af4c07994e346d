import type { SessionTools } from "@/engine/engine.ts";
import type { LineRange, SearchQuery, SessionFiles, TextChange } from "@/engine/session_files.ts";

/** A turn's tools, and the way to take them back. */
export interface LentTools {
  readonly tools: SessionTools;
  /** From now on each call rejects with RangeError; `requestInput` throws it. */
  takeBack(): void;
}

/** Lends `tools` to one turn: those that are there, each working until `takeBack`. */
export function lendTools(given: SessionTools): LentTools {
  let lent = true;
  function whileLent<Args extends unknown[], Result>(tool: (...args: Args) => Promise<Result>) {
    return (...args: Args): Promise<Result> => lent ? tool(...args) : Promise.reject(turnIsOver());
  }
  return {
    tools: {
      files: given.files && lendFiles(given.files, whileLent),
      send: given.send && whileLent((path: string) => given.send!(path)),
      write: given.write && whileLent((name: string, bytes: Uint8Array) => given.write!(name, bytes)),
      notifyOwner: given.notifyOwner && whileLent((text: string) => given.notifyOwner!(text)),
      requestInput: given.requestInput && ((question) => {
        if (!lent) throw turnIsOver();
        given.requestInput!(question);
      }),
    },
    takeBack() {
      lent = false;
    },
  };
}

type WhileLent = <Args extends unknown[], Result>(
  tool: (...args: Args) => Promise<Result>,
) => (...args: Args) => Promise<Result>;

function lendFiles(files: SessionFiles, whileLent: WhileLent): SessionFiles {
  return {
    read: whileLent((path: string, range?: LineRange) => files.read(path, range)),
    write: whileLent((path: string, text: string) => files.write(path, text)),
    edit: whileLent((path: string, change: TextChange) => files.edit(path, change)),
    list: whileLent((path: string) => files.list(path)),
    search: whileLent((query: SearchQuery, signal: AbortSignal) => files.search(query, signal)),
  };
}

function turnIsOver(): RangeError {
  return new RangeError("Cannot use a tool: its turn is over");
}
