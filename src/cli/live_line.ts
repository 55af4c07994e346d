import type { Activity } from "@/server/runs/run_activity.ts";
import { stateWord } from "./tasks_command.ts";

/** What a person at the host's terminal reads of inbound work, one line each (product.md §11). `whose`: who it is from. */
export function liveLine(whose: string, activity: Activity): string {
  switch (activity.kind) {
    case "message":
      return `[${whose}] message: ${activity.text}`;
    case "tool":
      return `[${whose}] tool ${activity.name}: ${activity.text}`;
    case "end": {
      const said = activity.text === "" ? "" : `: ${activity.text}`;
      return `[${whose}] ${stateWord(activity.state)} (${seconds(activity.ms)})${said}`;
    }
    default:
      return activity satisfies never;
  }
}

function seconds(ms: number): string {
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60_000)} min ${Math.round(ms / 1000) % 60} s`;
}
