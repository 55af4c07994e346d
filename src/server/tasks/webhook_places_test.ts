import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { ann, bob } from "@tests/fakes/sample_tasks.ts";
import type { CallerName } from "@/protocol/ids.ts";
import { WebhookPlaces } from "./webhook_places.ts";

function placesOf(max: number, stored: Partial<Record<string, number>> = {}) {
  const store = { webhooks: (caller: CallerName) => stored[caller] ?? 0 };
  return { places: new WebhookPlaces({ store, max }), stored };
}

Deno.test("WebhookPlaces gives each caller as many places as the limit leaves [§5.7 active-webhooks, case 32]", () => {
  const { places } = placesOf(2, { ann: 1 });
  const first = places.take(ann);
  ok(first);
  strictEqual(places.take(ann), undefined);
  ok(places.take(bob));
  first[Symbol.dispose]();
  ok(places.take(ann));
});

Deno.test("WebhookPlaces gives many at once no more than the limit, whatever comes of them [§5.7 active-webhooks]", () => {
  const { places, stored } = placesOf(3);
  const taken = Array.from({ length: 9 }, () => places.take(ann));
  deepStrictEqual(taken.map((place) => place !== undefined), [true, true, true, ...Array(6).fill(false)]);
  stored[ann] = 2; // two were stored, one was not
  for (const place of taken) place?.[Symbol.dispose]();
  ok(places.take(ann));
  strictEqual(places.take(ann), undefined);
});

Deno.test("WebhookPlaces without a limit has a place for everyone", () => {
  const { places } = placesOf(Infinity, { ann: 100_000 });
  ok(places.take(ann));
});
