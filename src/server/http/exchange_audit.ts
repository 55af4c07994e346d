import type { CallerName } from "@/protocol/ids.ts";
import type { Method } from "@/protocol/request_types.ts";
import type { TaskJson } from "@/protocol/task.ts";
import type { Clock } from "@/time/clock.ts";
import type { AuditEntry, AuditFile } from "@/workspace/audit_file.ts";
import { refusalOf } from "./answers.ts";
import { RefusalLines } from "./refusal_lines.ts";

/** Where lines go. */
export type AuditLines = Pick<AuditFile, "append">;

/** What is told of beside refusals, which are told of on every method (product.md §7): reads that were answered are not. */
const audited: ReadonlySet<string> = new Set<Method>(["SendMessage", "SendStreamingMessage", "CancelTask"]);

/**
 * Writes the audit lines of exchanges: one for each send, each cancel and each refusal, when it is over (data-model.md 8).
 *
 * A request without a valid key belongs to no workspace, so all of them are told, at most ten times a minute and peer. A
 * caller that is told to slow down gets as many lines a minute.
 */
export class ExchangeAudit {
  readonly #all: readonly AuditLines[];
  readonly #clock: Clock;
  readonly #peers: RefusalLines;
  /** Of the callers of each workspace, by its audit. */
  readonly #callers = new Map<AuditLines, RefusalLines>();

  /** `all`: the audits of all workspaces. */
  constructor({ all, clock }: { readonly all: readonly AuditLines[]; readonly clock: Clock }) {
    this.#all = all;
    this.#clock = clock;
    this.#peers = new RefusalLines({ clock });
  }

  /** An exchange that begins now. */
  begin(request: Request, { binding, peer }: { binding: "jsonrpc" | "rest"; peer: string }): Exchange {
    const version = request.headers.get("A2A-Version") ?? undefined;
    const began = this.#clock.elapsed();
    return new Exchange({ binding, peer, ...(version !== undefined && { version }) }, (lines, entry) => {
      const whole = { ...entry, ms: Math.round(this.#clock.elapsed() - began) };
      if (lines !== undefined) return this.#tell(lines, whole);
      for (const { name, count } of this.#peers.counted()) {
        this.#tellAll({ ...refusals, binding, caller: null, peer: name, count, outcome: "UNAUTHENTICATED" });
      }
      if (this.#peers.isWorthALine(peer)) this.#tellAll(whole);
    });
  }

  #tell(lines: AuditLines, entry: AuditEntry): void {
    const { caller, binding, outcome } = entry;
    if (outcome !== "TOO_MANY_REQUESTS" || caller === null) return lines.append(entry);
    const callers = this.#callers.get(lines) ?? new RefusalLines({ clock: this.#clock });
    this.#callers.set(lines, callers);
    for (const { name, count } of callers.counted()) {
      lines.append({ ...refusals, binding, caller: name, count, outcome });
    }
    if (callers.isWorthALine(caller)) lines.append(entry);
  }

  #tellAll(entry: AuditEntry): void {
    for (const lines of this.#all) lines.append(entry);
  }
}

/** One request and its answer, as far as the audit tells of them. Filled in on its way; `finish` is the end. */
export class Exchange {
  readonly #entry: Partial<AuditEntry> & Pick<AuditEntry, "binding">;
  readonly #write: (lines: AuditLines | undefined, entry: Omit<AuditEntry, "ms">) => void;
  #lines: AuditLines | undefined;
  #about: Partial<AuditEntry> = {};

  constructor(
    entry: Pick<AuditEntry, "binding" | "peer" | "version">,
    write: (lines: AuditLines | undefined, entry: Omit<AuditEntry, "ms">) => void,
  ) {
    this.#entry = entry;
    this.#write = write;
  }

  /** The key was good. `lines`: the audit of the caller's workspace; without one nothing is written. */
  admitted(caller: CallerName, lines: AuditLines | undefined): void {
    this.#lines = lines ?? nowhere;
    this.#about = { ...this.#about, caller };
  }

  /** The body was read. */
  received(bytes: number): void {
    this.#about = { ...this.#about, in: bytes };
  }

  /** It is known what is asked for. */
  asked(
    op: string,
    more: { readonly hops?: number; readonly taskId?: string; readonly contextId?: string } = {},
  ): void {
    this.#about = { ...this.#about, op, ...more };
  }

  /** It is known which task it is about. */
  concerned({ id, contextId }: Pick<TaskJson, "id" | "contextId">): void {
    this.#about = { ...this.#about, taskId: id, contextId };
  }

  /** The answer, to be sent instead of the given one: a stream of unknown length is told of when it is over. */
  finish(answer: Response): Response {
    const refusal = refusalOf(answer);
    const { op = "request" } = this.#about;
    if (refusal === undefined && !audited.has(op)) return answer;
    const write = (out: number) => {
      const { status } = answer;
      const known = { caller: null, in: 0, ...this.#entry, ...this.#about };
      this.#write(this.#lines, { ...known, op, outcome: refusal ?? "ok", status, out });
    };
    const length = answer.headers.get("Content-Length");
    if (answer.body !== null && length === null) return counted(answer, write);
    write(Number(length ?? 0));
    return answer;
  }
}

const refusals = { op: "refusals", ms: 0, in: 0, out: 0 } as const;

const nowhere: AuditLines = { append: () => {} };

/** The same answer; `done` is told once how many bytes of its body were taken, however it ends. */
function counted(answer: Response, done: (bytes: number) => void): Response {
  const reader = answer.body!.getReader();
  let bytes = 0;
  let isOver = false;
  const over = () => {
    if (!isOver) done(bytes);
    isOver = true;
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const next = await reader.read();
        if (!next.done) {
          bytes += next.value.length;
          return controller.enqueue(next.value);
        }
        over();
        controller.close();
      } catch (error) {
        over();
        controller.error(error);
      }
    },
    async cancel(reason) {
      over();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
  return new Response(body, answer);
}
