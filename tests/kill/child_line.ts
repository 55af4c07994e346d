import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { State } from "@/protocol/task.ts";

/** What the test tells a child to do; one JSON text, its only argument. */
export interface ChildJob {
  readonly workspace: string;
  readonly seed: number;
  /** `load`: submits until it is told to drain or killed. `tidy`: ends all that is open, waits until nothing runs, and stops. */
  readonly mode: "load" | "tidy";
  /** `lull`: all pause once, so that a checkpoint begins, and go on while it runs. `torn …`: a write to such a file is cut. */
  readonly style: "steady" | "lull" | "torn journal" | "torn transcript" | "torn record";
  /** Names the contexts, so that transcripts do not grow for ever. */
  readonly contexts: string;
  /** How long a finished task is kept. */
  readonly keepMs: number;
  /** Messages with a dedupe key of the round before: sent again, whether or not they were acknowledged. */
  readonly again: readonly Sent[];
}

/** A message that is deduplicated, so that it may be sent again. */
export interface Sent {
  readonly caller: CallerName;
  readonly messageId: string;
  readonly text: string;
}

/** One task as a list shows it. */
export type Listed = readonly [id: TaskId, state: State, at: string];

/** One line of a child's standard output. Most say what is durable, the moment it was seen. */
export type ChildLine =
  /** The workspace is about to be opened. */
  | { readonly kind: "begin" }
  | { readonly kind: "ready"; readonly ms: number }
  /** All tasks, of all callers, as the host lists them. */
  | { readonly kind: "listed"; readonly tasks: readonly Listed[] }
  | { readonly kind: "sending"; readonly sent: Sent }
  | {
    readonly kind: "created";
    readonly id: TaskId;
    readonly messageId: string;
    readonly state: State;
    readonly at: string;
    /** It was sent with a dedupe key. */
    readonly deduped: boolean;
  }
  | {
    readonly kind: "continued";
    readonly id: TaskId;
    readonly messageId: string;
    readonly state: State;
    readonly at: string;
  }
  /** `chars`: the length of the answer that was shown, with the status that ends it. */
  | {
    readonly kind: "status";
    readonly id: TaskId;
    readonly state: State;
    readonly at: string;
    readonly chars?: number;
  }
  /** In a lull a checkpoint begins to write task files; a write was cut. */
  | { readonly kind: "saving" | "torn" }
  | { readonly kind: "file"; readonly id: TaskId; readonly artifactId: string }
  | { readonly kind: "removed"; readonly id: TaskId }
  | { readonly kind: "refused"; readonly why: string }
  /** Nothing runs, and so many blobs were read through the host. */
  | { readonly kind: "idle"; readonly blobs: number }
  /** The host is closed. */
  | { readonly kind: "stopped" };

/** Writes a line at once: when this returns it survives the end of this process. */
export function writeLine(line: ChildLine): void {
  const bytes = new TextEncoder().encode(JSON.stringify(line) + "\n");
  for (let sent = 0; sent < bytes.length;) sent += Deno.stdout.writeSync(bytes.subarray(sent));
}
