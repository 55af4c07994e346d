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
  async take(caller: CallerName): Promise<Disposable | undefined> {
    const before = this.#taken.get(caller) ?? 0;
    this.#taken.set(caller, before + 1);
    const place = { [Symbol.dispose]: () => this.#leave(caller) };
    if (await this.#store.webhooks(caller) + before < this.#max) return place;
    place[Symbol.dispose]();
    return undefined;
  }

  #leave(caller: CallerName): void {
    const left = this.#taken.get(caller)! - 1;
    if (left === 0) this.#taken.delete(caller);
    else this.#taken.set(caller, left);
  }
}
