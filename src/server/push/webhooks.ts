import type { Outbound } from "@/outbound/outbound.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { PushConfig } from "@/protocol/request_types.ts";
import type { Random } from "@/random.ts";
import { type Refused, refused } from "@/server/tasks/refusal.ts";
import type { PushTarget } from "@/server/tasks/task_record.ts";
import type { TaskStore } from "@/server/tasks/task_store.ts";
import type { TaskWriter } from "@/server/tasks/task_writer.ts";
import type { WebhookPlaces } from "@/server/tasks/webhook_places.ts";

/** A webhook as its caller may read it: without its secrets (A2A 1.0 §4.3.1, product.md §5.7). */
export interface WebhookJson {
  readonly taskId: TaskId;
  readonly id: string;
  readonly url: string;
  readonly authentication?: { readonly scheme: string };
}

/** The URL can be seen to lead where nothing may be sent. */
export interface BadUrl {
  readonly kind: "bad url";
  /** Ends the sentence "url …". */
  readonly text: string;
}

/** A page of a task's webhooks. */
export interface WebhookPage {
  readonly kind: "page";
  readonly configs: readonly WebhookJson[];
  /** "" on the last page. */
  readonly nextPageToken: string;
}

/** What the webhooks are kept with. */
export interface WebhooksOptions {
  readonly store: Pick<TaskStore, "read">;
  readonly writer: Pick<TaskWriter, "apply">;
  readonly outbound: Pick<Outbound, "problemWith">;
  readonly random: Random;
  readonly places: WebhookPlaces;
}

/** Whose webhooks. */
interface Owner {
  readonly id: TaskId;
  readonly caller: CallerName;
}

/** The webhooks of tasks, as their callers set, read and delete them. What is owed to them is sent by `PushQueue`. */
export class Webhooks {
  readonly #options: WebhooksOptions;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  /** What a webhook is stored as: checked as far as it can be without sending anything, and with an id. */
  targetOf(config: PushConfig, version: PushTarget["version"]): PushTarget | BadUrl {
    const { random, outbound } = this.#options;
    const problem = outbound.problemWith(config.url);
    if (problem !== undefined) return { kind: "bad url", text: problem.publicMessage };
    const { id = random.uuid(), url, token, authentication } = config;
    return {
      ...{ id, url },
      ...(token !== undefined && { token }),
      ...(authentication && { authentication }),
      ...(version && { version }),
    };
  }

  /** Sets a webhook of a task, over or not; one with its id is replaced. Resolves when it is durable. */
  async set(
    task: Owner,
    { config, version }: { readonly config: PushConfig; readonly version: PushTarget["version"] },
  ): Promise<{ readonly kind: "set"; readonly webhook: WebhookJson } | BadUrl | Refused> {
    const record = await this.#options.store.read(task.id, task.caller);
    if (record === undefined) return refused("not found");
    const target = this.targetOf(config, version);
    if ("kind" in target) return target;
    const isActive = record.pushes.some(({ target: { id }, state }) => id === target.id && state === "active");
    using place = isActive ? noPlace : this.#options.places.take(task.caller);
    if (place === undefined) return refused("too many active webhooks");
    const applied = await this.#options.writer.apply(task, { kind: "webhook set", target }, { whenFull: "refuse" });
    return applied.kind === "refused" ? refused(applied.why) : { kind: "set", webhook: webhookJson(task.id, target) };
  }

  /** A webhook of a task, over or not; undefined when there is no such task or webhook. */
  async get(task: Owner, configId: string): Promise<WebhookJson | undefined> {
    const record = await this.#options.store.read(task.id, task.caller);
    const push = record?.pushes.find(({ target }) => target.id === configId);
    return push && webhookJson(task.id, push.target);
  }

  /** The webhooks of a task in the order they were set first. */
  async list(
    task: Owner,
    { pageSize, pageToken }: { readonly pageSize: number; readonly pageToken: string },
  ): Promise<WebhookPage | { readonly kind: "bad page token" } | Refused> {
    const record = await this.#options.store.read(task.id, task.caller);
    if (record === undefined) return refused("not found");
    const { pushes } = record;
    const from = pageToken === "" ? 0 : pushes.findIndex(({ target }) => target.id === pageToken);
    if (from < 0) return { kind: "bad page token" };
    const configs = pushes.slice(from, from + pageSize).map(({ target }) => webhookJson(task.id, target));
    return { kind: "page", configs, nextPageToken: pushes[from + pageSize]?.target.id ?? "" };
  }

  /** Deletes a webhook; one that is not there is deleted already. What is under way may still arrive. */
  async delete(task: Owner, configId: string): Promise<{ readonly kind: "deleted" } | Refused> {
    const event = { kind: "webhook deleted", configId } as const;
    const applied = await this.#options.writer.apply(task, event, { whenFull: "refuse" });
    return applied.kind === "refused" ? refused(applied.why) : { kind: "deleted" };
  }
}

/** A webhook that is set anew needs none. */
const noPlace: Disposable = { [Symbol.dispose]() {} };

function webhookJson(taskId: TaskId, { id, url, authentication }: PushTarget): WebhookJson {
  return { taskId, id, url, ...(authentication && { authentication: { scheme: authentication.scheme } }) };
}
