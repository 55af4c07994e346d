import { deepStrictEqual, throws } from "node:assert/strict";
import { nextRunPhase, type RunPhase, type RunPhaseEvent } from "./run_phase.ts";

const phases = {
  "opening": { kind: "opening" },
  "turning": { kind: "turning" },
  "stopping": { kind: "stopping" },
  "settled(asked)": { kind: "settled", how: "asked" },
  "settled(answered)": { kind: "settled", how: "answered" },
  "settled(failed)": { kind: "settled", how: "failed" },
  "settled(aborted)": { kind: "settled", how: "aborted" },
} as const satisfies Record<string, RunPhase>;

const events = {
  "it opened": { kind: "opened" },
  "it ends asked": { kind: "end", how: "asked" },
  "it ends answered": { kind: "end", how: "answered" },
  "it ends failed": { kind: "end", how: "failed" },
  "it ends aborted": { kind: "end", how: "aborted" },
  "it is aborted": { kind: "abort" },
  "patience is over": { kind: "patience over" },
} as const satisfies Record<string, RunPhaseEvent>;

type Row = readonly [from: keyof typeof phases, event: keyof typeof events, to: keyof typeof phases, cites?: string];

/** Every pair that can happen before the end; all others are bugs. */
const rows: readonly Row[] = [
  ["opening", "it opened", "turning"],
  ["opening", "it ends failed", "settled(failed)"],
  ["opening", "it is aborted", "stopping"],
  ["turning", "it ends asked", "settled(asked)", "SM3 turning end"],
  ["turning", "it ends answered", "settled(answered)"],
  ["turning", "it ends failed", "settled(failed)"],
  ["turning", "it ends aborted", "settled(aborted)"],
  ["turning", "it is aborted", "stopping", "SM3 turning abort"],
  ["stopping", "it opened", "stopping"],
  ["stopping", "it is aborted", "stopping"],
  ["stopping", "it ends asked", "settled(aborted)"],
  ["stopping", "it ends answered", "settled(aborted)", "SM3 stopping-ends"],
  ["stopping", "it ends failed", "settled(aborted)"],
  ["stopping", "it ends aborted", "settled(aborted)"],
  ["stopping", "patience is over", "settled(aborted)"],
];

for (const [from, event, to, cites] of rows) {
  Deno.test(`nextRunPhase() makes ${to} of ${from} when ${event}${cites === undefined ? "" : ` [${cites}]`}`, () => {
    deepStrictEqual(nextRunPhase(phases[from], events[event]), phases[to]);
  });
}

const possible = new Set(rows.map(([from, event]) => `${from} ${event}`));

for (const from of Object.keys(phases) as (keyof typeof phases)[]) {
  const others = (Object.keys(events) as (keyof typeof events)[]).filter((event) => !possible.has(`${from} ${event}`));
  if (from.startsWith("settled")) {
    Deno.test(`nextRunPhase() leaves ${from} whatever comes`, () => {
      for (const event of others) deepStrictEqual(nextRunPhase(phases[from], events[event]), phases[from]);
    });
    continue;
  }
  for (const event of others) {
    Deno.test(`nextRunPhase() throws for ${from} when ${event}`, () => {
      throws(() => nextRunPhase(phases[from], events[event]), RangeError);
    });
  }
}
