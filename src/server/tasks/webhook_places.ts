import type { CallerName } from "@/protocol/ids.ts";
import type { TaskStore } from "./task_store.ts";

/**
 * The places that a caller's webhooks take, those that are being stored just now too: many at once cannot be more than the
 * limit (product.md §5.7).
 */
export class WebhookPlaces {
  readonly #store: Pick<TaskStore, "webhooks">;
  readonly #max: number;
  readonly #taken = new Map<CallerName, number>();

  /** `max`: webhooks of one caller that are not over; `Infinity` for no limit. */
  constructor({ store, max }: { readonly store: Pick<TaskStore, "webhooks">; readonly max: number }) {
    this.#store = store;
    this.#max = max;
  }

  /** Takes a place for a new webhook; undefined when none is left. Dispose it once the webhook was stored, or was not. */
  take(caller: CallerName): Disposable | undefined {
    const taken = this.#taken.get(caller) ?? 0;
    if (this.#store.webhooks(caller) + taken >= this.#max) return undefined;
    this.#taken.set(caller, taken + 1);
    return { [Symbol.dispose]: () => this.#leave(caller) };
  }

  #leave(caller: CallerName): void {
    const left = this.#taken.get(caller)! - 1;
    if (left === 0) this.#taken.delete(caller);
    else this.#taken.set(caller, left);
  }
}
