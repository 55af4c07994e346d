import type { SeededRandom } from "@tests/fakes/seeded_random.ts";
import type { TaskJson } from "@/protocol/task.ts";
import { systemClock } from "@/time/clock.ts";

/** A push as it came: to which webhook, and what it was about. */
export interface ReceivedPush {
  readonly path: string;
  readonly seq: number;
  readonly task: TaskJson;
}

/** What the receiver does not like, and how it is started. */
export interface PushReceiverOptions {
  readonly random: SeededRandom;
  /** The task as the program shows it now; undefined when it is gone. */
  readonly shown: (taskId: string) => Promise<TaskJson | undefined>;
}

const certificates = new URL("../outbound/certificates/", import.meta.url);
/** The address of the receiver's certificate: no machine's own but on Linux, where all of 127.0.0.0/8 is. */
export const receiverAddress = "127.0.1.1";
/** What the path of a webhook begins with that came with its message: it is told every status from the first on. */
export const toldFromStart = "first";
/** The certificate to trust. */
export const caFile = new URL("ca.pem", certificates);

/**
 * A receiver of webhooks over TLS that keeps what it was told, and sometimes is slow, refuses, or hangs up. It checks each push:
 * the statuses of a webhook come in order, none is left out, and none comes before the program shows it.
 */
export class PushReceiver implements AsyncDisposable {
  readonly problems: string[] = [];
  readonly #options: PushReceiverOptions;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  /** The newest of each webhook. */
  readonly #newest = new Map<string, ReceivedPush>();
  #pushes = 0;
  #repeats = 0;

  constructor(options: PushReceiverOptions) {
    this.#options = options;
    this.#server = Deno.serve({
      hostname: receiverAddress,
      port: 0,
      cert: Deno.readTextFileSync(new URL("addresses.pem", certificates)),
      key: Deno.readTextFileSync(new URL("addresses.key", certificates)),
      onListen: () => {},
      onError: () => new Response(null, { status: 500 }),
    }, (request) => this.#answer(request));
  }

  get url(): string {
    return `https://${receiverAddress}:${this.#server.addr.port}`;
  }

  get pushes(): number {
    return this.#pushes;
  }

  get repeats(): number {
    return this.#repeats;
  }

  /** What a webhook was told last. */
  newest(path: string): ReceivedPush | undefined {
    return this.#newest.get(path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const { random, shown } = this.#options;
    const path = new URL(request.url).pathname.slice(1);
    const { task } = await request.json() as { task: TaskJson };
    if (random.chance(0.1)) return new Response(null, { status: 503 }); // as if it never was told
    this.#take({ path, task, seq: task.metadata!["volcanic.seq"] as number }, request.headers.get("webhook-id"));
    const now = await shown(task.id).catch(() => undefined);
    if (now !== undefined && now.status.timestamp < task.status.timestamp) {
      this.problems.push(`${path} was told ${task.status.state} before GetTask showed it`);
    }
    if (random.chance(0.2)) await systemClock.sleep(random.below(60));
    return new Response();
  }

  #take(push: ReceivedPush, id: string | null): void {
    const { path, seq, task } = push;
    const before = this.#newest.get(path);
    this.#pushes++;
    if (before?.seq === seq) this.#repeats++;
    const isFirst = before === undefined && (seq === 1 || !path.startsWith(toldFromStart));
    const isNext = before !== undefined && (seq === before.seq || seq === before.seq + 1);
    if (!isFirst && !isNext) this.problems.push(`${path} was told status ${seq} after ${before?.seq ?? "none"}`);
    if (id !== `${task.id}_${path}_${seq}`) this.problems.push(`${path} was told ${seq} under the id ${id}`);
    this.#newest.set(path, push);
  }
}
