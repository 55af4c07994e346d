import type { FromHost, MainAnswer, MainRequest } from "./messages.ts";

/** The host's side of what it asks the main thread to do: requests go out, answers come back, in any order. */
export class MainRequests {
  readonly #say: (message: FromHost & { readonly kind: "ask" }) => void;
  readonly #waiting = new Map<number, (answer: MainAnswer) => void>();
  #last = 0;

  constructor(options: { readonly say: (message: FromHost & { readonly kind: "ask" }) => void }) {
    this.#say = options.say;
  }

  /** Resolves with the main thread's answer; what it will not do is an answer too. Rejects with the signal's reason. */
  ask(request: MainRequest, signal: AbortSignal): Promise<MainAnswer> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const id = ++this.#last;
      const over = () => {
        this.#waiting.delete(id);
        signal.removeEventListener("abort", onAbort);
      };
      const onAbort = () => {
        over();
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.set(id, (answer) => {
        over();
        resolve(answer);
      });
      this.#say({ kind: "ask", id, request });
    });
  }

  /** An answer came. One that nobody waits for any more is dropped. */
  answered(id: number, answer: MainAnswer): void {
    this.#waiting.get(id)?.(answer);
  }
}
