import type { SessionTools } from "@/engine/engine.ts";

/** A turn's tools, and the way to take them back. */
export interface LentTools {
  readonly tools: SessionTools;
  /** From now on each call rejects with RangeError; `requestInput` throws it. */
  takeBack(): void;
}

/** Lends `tools` to one turn: those that are there, each working until `takeBack`. */
export function lendTools({ send, write, requestInput, notifyOwner }: SessionTools): LentTools {
  let lent = true;
  function whileLent<Args extends unknown[], Result>(tool: (...args: Args) => Promise<Result>) {
    return (...args: Args): Promise<Result> => lent ? tool(...args) : Promise.reject(turnIsOver());
  }
  return {
    tools: {
      send: send && whileLent(send),
      write: write && whileLent(write),
      notifyOwner: notifyOwner && whileLent(notifyOwner),
      requestInput: requestInput && ((question) => {
        if (!lent) throw turnIsOver();
        requestInput(question);
      }),
    },
    takeBack() {
      lent = false;
    },
  };
}

function turnIsOver(): RangeError {
  return new RangeError("Cannot use a tool: its turn is over");
}
