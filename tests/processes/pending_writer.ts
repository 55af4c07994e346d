/**
 * A process of its own that adds watches to a `pending.json` and changes each once, for the test that two of them lose
 * nothing: `pending_writer.ts <1 or 2> <updates> <pending.json> <pending.lock>`.
 */
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { PendingFile } from "@/workspace/pending_file.ts";

const [name, count, path, lock] = Deno.args as [string, string, string, string];
const file = new PendingFile({ disk: createDisk(systemClock), clock: systemClock, random: systemRandom, path, lock });

const updates = Array.from({ length: Number(count) }, async (_, number) => {
  const watchId = `0000000${name}-0000-4000-8000-${String(number).padStart(12, "0")}`;
  const added = await file.update(watchId, () => ({
    ...{ watchId, target: "owner", agent: `writer-${name}`, taskId: String(number), contextId: null, pushToken: null },
    ...{ startedAt: "2026-10-08T12:00:00.000Z", source: "poll", undelivered: null, attempts: 0 },
  }));
  const changed = await file.update(watchId, (record) => ({ ...record!, attempts: record!.attempts! + 1 }));
  if (added.kind !== "updated" || changed.kind !== "updated") throw new Error(`${added.kind}, ${changed.kind}`);
});
await Promise.all(updates);
