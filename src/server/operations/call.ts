import type { A2AError } from "@/protocol/errors.ts";
import type { CallerName } from "@/protocol/ids.ts";
import type { AgentCardJson } from "@/protocol/agent_card.ts";
import type { ProtocolVersion } from "@/protocol/protocol_version.ts";
import type { StreamJson, TaskJson } from "@/protocol/task.ts";
import type { Webhooks } from "@/server/push/webhooks.ts";
import type { RunService } from "@/server/runs/run_service.ts";
import type { TaskStore } from "@/server/tasks/task_store.ts";
import type { Clock } from "@/time/clock.ts";

/** Who calls which workspace, and what the operation may use of it. */
export interface Call {
  readonly caller: CallerName;
  readonly runs: RunService;
  readonly store: TaskStore;
  readonly webhooks: Webhooks;
  readonly clock: Clock;
  /** How long a blocking send waits; `Infinity` for as long as it takes. */
  readonly waitMs: number;
  /** Aborts when nobody is left to hear the answer: it ends waiting and streams, never work. */
  readonly signal: AbortSignal;
  /** The version of A2A that the request is in. */
  readonly version: ProtocolVersion;
  /** The caller's card of the workspace. */
  readonly extendedCard: () => Promise<AgentCardJson>;
}

/** What an operation gives: a value at once, one that may take long, or a stream. Refusals are values too. */
export type Outcome =
  | { readonly kind: "value"; readonly value: unknown }
  /** The answer of a blocking send; never rejects. What it stands for is accepted already. */
  | { readonly kind: "later"; readonly value: Promise<unknown>; readonly task: TaskJson }
  /** `task`: what it is about, as far as it is known before the first event. */
  | { readonly kind: "stream"; readonly events: AsyncIterableIterator<StreamJson>; readonly task?: TaskJson };

/** One operation: the same for both bindings. */
export type Operation<Request> = (request: Request, call: Call) => Promise<Outcome | A2AError>;
