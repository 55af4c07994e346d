import { getLogger } from "@logtape/logtape";
import { Hono } from "hono";
import type { AgentCapabilitiesJson } from "@/protocol/agent_card.ts";
import { isJsonContentType } from "@/protocol/content_types.ts";
import { A2AError } from "@/protocol/errors.ts";
import { type Operations, operations } from "@/server/operations/operations.ts";
import type { Method, RequestOf } from "@/protocol/request_types.ts";
import type { TaskJson } from "@/protocol/task.ts";
import type { Call, Outcome } from "@/server/operations/call.ts";
import type { Clock } from "@/time/clock.ts";
import { restErrorAnswer, rpcErrorAnswer } from "./answers.ts";
import { BodyReader } from "./body_reader.ts";
import { CacheableAnswers } from "./cacheable_answer.ts";
import { type Authenticated, type AuthWorkspace, CallerAuth } from "./caller_auth.ts";
import { cardPaths, type Cards } from "./card_routes.ts";
import { type AuditLines, type Exchange, ExchangeAudit } from "./exchange_audit.ts";
import { answerJsonRpc } from "./json_rpc_route.ts";
import { OpenStreams } from "./open_streams.ts";
import { type GuardOptions, guardRequest, isLoopbackAddress, refuseOddHost } from "./request_guard.ts";
import { ourCapabilities } from "./agent_card.ts";
import { askingName, type RequestLimits, RequestRates } from "./request_rates.ts";
import { answerRest, answerType, matchRest } from "./rest_routes.ts";
import type { RouteOptions, UnreadCall } from "./route_options.ts";
import { announceExtensions, capabilityError } from "./served_capabilities.ts";

const logger = getLogger(["a2a", "server", "http"]);

/** A workspace as it is served. */
export interface ServedWorkspace extends AuthWorkspace {
  readonly runs: Call["runs"];
  readonly store: Call["store"];
  readonly webhooks: Call["webhooks"];
  /** What `Cards.extended` gives. */
  readonly extendedCard: ReturnType<Cards["extended"]>;
  /** Where its exchanges are told; absent: nowhere. */
  readonly audit?: AuditLines;
}

/** What the endpoints are made of. */
export interface HttpAppOptions {
  readonly workspaces: readonly ServedWorkspace[];
  readonly guard: GuardOptions;
  readonly bodyBytesMax: number;
  readonly rates: RequestLimits;
  readonly strictVersion: boolean;
  readonly waitMs: number;
  readonly clock: Clock;
  /** The public card, and its 0.3 form (product.md §5.3): `Cards.answer`. */
  readonly cards: Cards["answer"];
  /** What the cards say can be done; all else is refused. Absent: `ourCapabilities`. */
  readonly capabilities?: AgentCapabilitiesJson;
  /** What is done for each method. Absent: `operations`. */
  readonly operations?: Operations;
  /** What of the host is not ready; nothing when all is (product.md §5.1). */
  readonly notReady: () => readonly string[];
  /** Every stream is here while it is open; absent: nobody ends them from outside. */
  readonly streams?: OpenStreams;
  /** Aborts when the host begins to end: no stream is opened any more. Runs refuse new work themselves. */
  readonly draining?: AbortSignal;
  /** Aborts when the host ends: who still waits is answered with the task as it stands. */
  readonly stopped?: AbortSignal;
  /** Told when a request came without a valid key: its caller may just have been removed. */
  readonly onUnauthenticated?: () => void;
}

/** What `Deno.serve` tells of a request beside itself. */
export interface ConnectionInfo {
  readonly remoteAddr: { readonly hostname?: string };
}

/**
 * Builds the endpoints of the server half: cards, JSON-RPC, HTTP+JSON, health (product.md §5.1). Opens nothing: tests call
 * `fetch` with a request and the address it comes from.
 */
export function createHttpApp(options: HttpAppOptions): Hono<{ Bindings: ConnectionInfo }> {
  const app = new Hono<{ Bindings: ConnectionInfo }>();
  const door = new Door(options);
  app.onError((error) => {
    logger.error("A route broke: {error}", { error });
    return restErrorAnswer(new A2AError("INTERNAL"));
  });
  app.use(async (c, next) => {
    const refused = refuseOddHost(c.req.raw);
    return refused === undefined ? await next() : restErrorAnswer(refused);
  });
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/readyz", (c) => {
    const notReady = options.notReady();
    const isReady = notReady.length === 0;
    // What is missing names workspaces: only this machine is told.
    const why = isLoopbackAddress(c.env.remoteAddr.hostname ?? "") ? { notReady } : {};
    return c.json({ status: isReady ? "ok" : "not ready", ...why }, isReady ? 200 : 503);
  });
  for (const path of cardPaths) {
    app.on(["GET", "OPTIONS"], path, (c) => {
      const address = c.env.remoteAddr.hostname ?? "";
      return door.refuseStranger(address) ?? options.cards(c.req.raw, address);
    });
    app.all(path, () => wrongVerb(["GET", "HEAD", "OPTIONS"]));
  }
  for (const path of ["/a2a", "/a2a/"]) {
    app.post(path, (c) => door.jsonRpc(c.req.raw, c.env.remoteAddr.hostname ?? ""));
    app.all(path, () => wrongVerb(["POST"]));
  }
  app.all("/a2a/v1/*", (c) => door.rest(c.req.raw, c.env.remoteAddr.hostname ?? ""));
  app.notFound(() => restErrorAnswer(new A2AError("ROUTE_NOT_FOUND")));
  return app;
}

/** Every request to the two bindings, in the order of its checks: address, origin, key, rate, type, size, and then what it says. */
class Door {
  readonly #options: HttpAppOptions;
  readonly #auth: CallerAuth<ServedWorkspace>;
  readonly #rates: RequestRates;
  readonly #bodies: BodyReader;
  readonly #audit: ExchangeAudit;
  readonly #streams: OpenStreams;
  readonly #stopped: AbortSignal;
  readonly #capabilities: AgentCapabilitiesJson;
  readonly #operations: Operations;
  readonly #routes: Omit<RouteOptions, "operate">;

  constructor(options: HttpAppOptions) {
    this.#options = options;
    this.#auth = new CallerAuth(options);
    this.#rates = new RequestRates({ ...options.rates, clock: options.clock });
    this.#bodies = new BodyReader({ bytesMax: options.bodyBytesMax, clock: options.clock });
    const { clock, strictVersion, workspaces } = options;
    this.#audit = new ExchangeAudit({ all: workspaces.flatMap(({ audit }) => audit ?? []), clock });
    this.#streams = options.streams ?? new OpenStreams();
    this.#stopped = options.stopped ?? new AbortController().signal;
    this.#capabilities = options.capabilities ?? ourCapabilities;
    this.#operations = options.operations ?? operations;
    this.#routes = { clock, strictVersion, answers: new CacheableAnswers({ clock }) };
  }

  /** While no workspace has a caller only this machine is answered (product.md §5.2a). */
  refuseStranger(address: string): Response | undefined {
    const error = this.#strangerError(address);
    return error && restErrorAnswer(error);
  }

  async jsonRpc(request: Request, address: string): Promise<Response> {
    const exchange = this.#audit.begin(request, { binding: "jsonrpc", peer: address });
    return exchange.finish(await this.#jsonRpc(request, { address, exchange }));
  }

  async rest(request: Request, address: string): Promise<Response> {
    const exchange = this.#audit.begin(request, { binding: "rest", peer: address });
    return exchange.finish(await this.#rest(request, { address, exchange }));
  }

  async #jsonRpc(request: Request, coming: Coming): Promise<Response> {
    const admitted = this.#admit(request, coming);
    if (admitted instanceof A2AError) return rpcErrorAnswer(admitted);
    const answer = await this.#bodies.withBody({ request, caller: askingName(admitted) }, (bytes) => {
      coming.exchange.received(bytes.length);
      return answerJsonRpc(request, { bytes, ...this.#served(request, { ...coming, ...admitted }) });
    });
    if (answer instanceof A2AError) return rpcErrorAnswer(answer);
    return this.#announced("later" in answer ? await answer.later : answer, request);
  }

  async #rest(request: Request, coming: Coming): Promise<Response> {
    const contentType = answerType(request);
    const path = new URL(request.url).pathname.slice("/a2a/v1/".length);
    const match = matchRest(request.method, path);
    if (match.kind === "method") coming.exchange.asked(match.method);
    const admitted = this.#admit(request, coming);
    if (admitted instanceof A2AError) return restErrorAnswer(admitted, contentType);
    if (match.kind === "no route") return restErrorAnswer(new A2AError("ROUTE_NOT_FOUND"), contentType);
    if (match.kind === "wrong verb") return wrongVerb(match.allow);
    const answer = await this.#bodies.withBody({ request, caller: askingName(admitted) }, (bytes) => {
      coming.exchange.received(bytes.length);
      return answerRest(request, { bytes, match, ...this.#served(request, { ...coming, ...admitted }) });
    });
    if (answer instanceof A2AError) return restErrorAnswer(answer, contentType);
    return this.#announced("later" in answer ? await answer.later : answer, request);
  }

  #announced(answer: Response, { headers }: Request): Response {
    return announceExtensions(answer, { headers, capabilities: this.#capabilities });
  }

  /** All that is checked before the body is read. */
  #admit(request: Request, { address, exchange }: Coming): Authenticated<ServedWorkspace> | A2AError {
    const refused = this.#strangerError(address) ?? guardRequest(request, this.#options.guard);
    if (refused !== undefined) return refused;
    const admitted = this.#auth.authenticate(request.headers, address);
    if (admitted instanceof A2AError) {
      this.#options.onUnauthenticated?.();
      return admitted;
    }
    exchange.admitted(admitted.caller.caller, admitted.workspace.audit);
    const tooMany = this.#rates.refuseUnread(admitted);
    if (tooMany !== undefined) return tooMany;
    const hasBody = request.body !== null && request.method !== "GET";
    if (hasBody && !isJsonContentType(request.headers.get("Content-Type"))) {
      return new A2AError("UNSUPPORTED_MEDIA_TYPE");
    }
    return admitted;
  }

  #strangerError(address: string): A2AError | undefined {
    if (isLoopbackAddress(address) || this.#auth.hasCallers) return undefined; // in this order: the second looks at files
    return new A2AError("FORBIDDEN", { message: "No caller is set up yet: only this machine is answered" });
  }

  /** What a request is answered with, once its body is there. */
  #served(request: Request, admitted: Admitted): { readonly call: UnreadCall; readonly options: RouteOptions } {
    const operate: RouteOptions["operate"] = (method, asked, call) =>
      this.#operate(method, asked, { call, request, admitted });
    return { call: this.#call(request, admitted), options: { ...this.#routes, operate } };
  }

  async #operate<M extends Method>(
    method: M,
    asked: RequestOf[M],
    { call, request, admitted }: { call: Call; request: Request; admitted: Admitted },
  ): Promise<Outcome | A2AError> {
    const { exchange, workspace } = admitted;
    exchange.asked(method, concernsOf(asked));
    const refused = capabilityError({ method, asked, headers: request.headers }, this.#capabilities) ??
      this.#tooLate(method, request, admitted) ?? this.#rates.refuse(method, admitted);
    if (refused !== undefined) return refused;
    const outcome = await this.#operations[method](asked, call);
    if (outcome instanceof A2AError) return outcome;
    const task = outcome.kind === "value" ? (outcome.value as { task?: TaskJson } | null)?.task : outcome.task;
    if (task !== undefined) exchange.concerned(task);
    if (outcome.kind !== "stream") return outcome;
    const owner = { workspace: workspace.name, caller: call.caller };
    return { ...outcome, events: this.#streams.add(owner, outcome.events) };
  }

  /**
   * What changed while the body came. A caller that was removed meanwhile gets nothing, and must not begin anything: nobody would
   * end it. This is in one step with the submission, so an expulsion sees one or the other.
   */
  #tooLate(method: Method, { headers }: Request, { address, workspace, caller }: Admitted): A2AError | undefined {
    if (method === "SubscribeToTask" && this.#options.draining?.aborted) {
      return new A2AError("SHUTTING_DOWN", { retryAfterSeconds: 10 });
    }
    const again = this.#auth.authenticate(headers, address);
    if (again instanceof A2AError) return again;
    const isSame = again.workspace === workspace && again.caller.caller === caller.caller;
    return isSame ? undefined : new A2AError("UNAUTHENTICATED");
  }

  #call(request: Request, { address, workspace, caller }: Admitted): UnreadCall {
    const { clock, waitMs } = this.#options;
    return {
      caller: caller.caller,
      runs: workspace.runs,
      store: workspace.store,
      webhooks: workspace.webhooks,
      clock,
      waitMs,
      signal: this.#stopped,
      extendedCard: workspace.extendedCard(request, address),
    };
  }
}

/** A request on its way in. */
interface Coming {
  readonly address: string;
  readonly exchange: Exchange;
}

type Admitted = Coming & Authenticated<ServedWorkspace>;

/** What a request says of the task that it is about, for the audit. */
function concernsOf(asked: RequestOf[Method]): { hops?: number; taskId?: string; contextId?: string } {
  if ("message" in asked) {
    const { taskId, contextId } = asked.message;
    return { hops: asked.hops, taskId, contextId };
  }
  return "taskId" in asked ? { taskId: asked.taskId } : "id" in asked ? { taskId: asked.id } : {};
}

function wrongVerb(allow: readonly string[]): Response {
  const answer = restErrorAnswer(new A2AError("METHOD_NOT_ALLOWED"));
  answer.headers.set("Allow", allow.join(", "));
  return answer;
}
