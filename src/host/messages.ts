import type { EngineKind } from "@/engine/engine.ts";
import type { ProgramEnd, ProgramRequest } from "@/engine/programs.ts";
import type { Activity } from "@/server/runs/run_activity.ts";
import type { ListenerAddress } from "@/server/http/listener.ts";
import type { NamedWorkspace } from "@/workspace/workspace_names.ts";

/**
 * What the main thread and the host say to each other. Plain data only: it is copied from one thread to the other.
 *
 * The host says `ready` first, for what is said to a worker before it listens is lost; then it is told `start`, once.
 */
export type ToHost =
  | { readonly kind: "start"; readonly config: HostConfig }
  /** Drain for so long, then end; the host answers with `stopped`. */
  | { readonly kind: "stop"; readonly graceMs: number }
  /** Are you there? The host answers with `alive` as soon as it does anything. */
  | { readonly kind: "ping" }
  | { readonly kind: "answer"; readonly id: number; readonly answer: MainAnswer };

/** What the host says. */
export type FromHost =
  | { readonly kind: "ready" }
  | { readonly kind: "alive" }
  | { readonly kind: "started"; readonly report: HostReport }
  /** It cannot start, and what to do about it: a lock, a port, a newer format. Nothing runs. */
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "activity"; readonly workspace: string; readonly activity: Activity }
  /** It must not go on: a workspace is another's now. To be ended at once, as by a crash. */
  | { readonly kind: "lost"; readonly message: string }
  | { readonly kind: "stopped" }
  | { readonly kind: "ask"; readonly id: number; readonly request: MainRequest };

/** What the host has to know to begin. */
export interface HostConfig {
  readonly workspaces: readonly NamedWorkspace[];
  /** What thinks, as it was chosen. */
  readonly engine: EngineKind;
  /**
   * The settings that were given, as text by flag name: the host reads them as the main thread did. No secret is among them;
   * those are asked for by name when they are used.
   */
  readonly settings: Readonly<Record<string, string>>;
  /** Callers' sessions may start programs: there is a box, or the owner wants none. */
  readonly runsPrograms: boolean;
  /** What `CaFile` holds: the host has no right to read it. */
  readonly caCerts: readonly string[];
  readonly logForm: "json" | "text";
  readonly pid: number;
}

/** A workspace that is served, and who may call it. */
export interface ServedWorkspace extends NamedWorkspace {
  /** How many. */
  readonly callers: number;
  /** Those with access "write". */
  readonly writers: readonly string[];
  /** Those whose programs may use the network. */
  readonly networkers: readonly string[];
}

/** What became of the start. */
export interface HostReport {
  readonly address: ListenerAddress;
  readonly workspaces: readonly ServedWorkspace[];
}

/** What the host has no right to do itself: the main thread does it, when the request is one of these (product.md §4). */
export type MainRequest =
  /**
   * Start a program in the box of a caller's session. What the box shows and allows is for the main thread to find out by the names
   * alone: it takes no path from the host.
   */
  | {
    readonly kind: "start program";
    readonly workspace: string;
    readonly caller: string;
    /** Of the conversation, whose folder `/session` is. */
    readonly contextId?: string;
    readonly program: ProgramRequest;
  }
  /** Answered with `ended` when the program is gone. */
  | { readonly kind: "await program"; readonly id: number }
  | { readonly kind: "kill program"; readonly id: number }
  /** The value behind a key reference: `setting:ModelKey`, or the `env:NAME` of a provider's key. */
  | { readonly kind: "resolve secret"; readonly reference: string };

/** What came of it. */
export type MainAnswer =
  /** The program runs. Its streams are transferred. */
  | {
    readonly kind: "program";
    readonly id: number;
    readonly stdin: WritableStream<Uint8Array>;
    readonly stdout: ReadableStream<Uint8Array<ArrayBuffer>>;
    readonly stderr: ReadableStream<Uint8Array<ArrayBuffer>>;
  }
  | { readonly kind: "ended"; readonly end: ProgramEnd }
  | { readonly kind: "done" }
  /** To be wrapped at once, and never logged. */
  | { readonly kind: "secret"; readonly value: string }
  /** The reference is one that may be asked for, and nothing is set there. */
  | { readonly kind: "absent" }
  | { readonly kind: "refused"; readonly why: string };
