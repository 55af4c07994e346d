import { deepStrictEqual, throws } from "node:assert/strict";
import { sampleId } from "@tests/fakes/sample_tasks.ts";
import { nextSlot, type SlotEvent, type SlotState } from "./context_slot.ts";

const [a, b] = [sampleId(1), sampleId(2)];

const states = {
  "free": { kind: "free" },
  "running(A)": { kind: "running", taskId: a },
  "running(B)": { kind: "running", taskId: b },
  "parked(A)": { kind: "parked", taskId: a },
  "draining(A)": { kind: "draining", taskId: a },
} as const satisfies Record<string, SlotState>;

const events = {
  "taken by A": { kind: "taken", taskId: a },
  "taken by B": { kind: "taken", taskId: b },
  "asked": { kind: "asked" },
  "ended": { kind: "ended" },
  "aborted": { kind: "aborted" },
  "turn is over": { kind: "turn is over" },
  "question of A closed": { kind: "question closed", taskId: a },
  "question of B closed": { kind: "question closed", taskId: b },
} as const satisfies Record<string, SlotEvent>;

type Row = readonly [from: keyof typeof states, event: keyof typeof events, to: keyof typeof states, cites?: string];

/** Every pair that can happen; all others are bugs. */
const rows: readonly Row[] = [
  ["free", "taken by A", "running(A)", "SM2 free-new"],
  ["free", "taken by B", "running(B)"],
  ["parked(A)", "taken by A", "running(A)", "SM2 parked-answer"],
  ["parked(A)", "taken by B", "running(B)", "SM2 parked-new"],
  ["running(A)", "asked", "parked(A)", "SM2 running-asked"],
  ["running(A)", "ended", "free", "SM2 running-ended"],
  ["running(A)", "aborted", "draining(A)", "SM2 running-cut"],
  ["draining(A)", "turn is over", "free", "SM2 draining"],
  ["parked(A)", "question of A closed", "free"],
  ["parked(A)", "question of B closed", "parked(A)"],
  ["free", "question of A closed", "free"],
  ["free", "question of B closed", "free"],
  ["running(A)", "question of A closed", "running(A)"],
  ["running(A)", "question of B closed", "running(A)"],
  ["running(B)", "question of A closed", "running(B)"],
  ["running(B)", "question of B closed", "running(B)"],
  ["draining(A)", "question of A closed", "draining(A)"],
  ["draining(A)", "question of B closed", "draining(A)"],
  ["running(B)", "ended", "free"],
];

for (const [from, event, to, cites] of rows) {
  Deno.test(`nextSlot() makes ${to} of ${from} when ${event}${cites === undefined ? "" : ` [${cites}]`}`, () => {
    deepStrictEqual(nextSlot(states[from], events[event]), states[to]);
  });
}

const possible = new Set(rows.map(([from, event]) => `${from} ${event}`));

for (const from of ["free", "running(A)", "parked(A)", "draining(A)"] as const) {
  for (const event of Object.keys(events) as (keyof typeof events)[]) {
    if (possible.has(`${from} ${event}`)) continue;
    Deno.test(`nextSlot() throws for ${from} when ${event}`, () => {
      throws(() => nextSlot(states[from], events[event]), RangeError);
    });
  }
}
