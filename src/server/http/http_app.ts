import { getLogger } from "@logtape/logtape";
import { Hono } from "hono";
import { isJsonContentType } from "@/protocol/content_types.ts";
import { A2AError } from "@/protocol/errors.ts";
import type { RunService } from "@/server/runs/run_service.ts";
import { operations } from "@/server/operations/operations.ts";
import type { Call } from "@/server/operations/call.ts";
import type { TaskStore } from "@/server/tasks/task_store.ts";
import type { Clock } from "@/time/clock.ts";
import { restErrorAnswer, rpcErrorAnswer } from "./answers.ts";
import { BodyReader } from "./body_reader.ts";
import { CacheableAnswers } from "./cacheable_answer.ts";
import { type Authenticated, type AuthWorkspace, CallerAuth } from "./caller_auth.ts";
import { cardPaths, type Cards } from "./card_routes.ts";
import { answerJsonRpc } from "./json_rpc_route.ts";
import { type GuardOptions, guardRequest, isLoopbackAddress } from "./request_guard.ts";
import { answerRest, answerType, matchRest } from "./rest_routes.ts";
import type { RouteOptions } from "./route_options.ts";

const logger = getLogger(["a2a", "server", "http"]);

/** A workspace as it is served. */
export interface ServedWorkspace extends AuthWorkspace {
  readonly runs: RunService;
  readonly store: TaskStore;
  /** What `Cards.extended` gives. */
  readonly extendedCard: ReturnType<Cards["extended"]>;
}

/** What the endpoints are made of. */
export interface HttpAppOptions {
  readonly workspaces: readonly ServedWorkspace[];
  readonly guard: GuardOptions;
  readonly bodyBytesMax: number;
  readonly strictVersion: boolean;
  readonly waitMs: number;
  readonly clock: Clock;
  /** The public card, and its 0.3 form (product.md §5.3): `Cards.answer`. */
  readonly cards: Cards["answer"];
  /** What of the host is not ready; nothing when all is (product.md §5.1). */
  readonly notReady: () => readonly string[];
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
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/readyz", (c) => {
    const notReady = options.notReady();
    return c.json({ status: notReady.length === 0 ? "ok" : "not ready", notReady }, notReady.length === 0 ? 200 : 503);
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

/** Every request to the two bindings, in the order of its checks: address, origin, key, type, size, and then what it says. */
class Door {
  readonly #options: HttpAppOptions;
  readonly #auth: CallerAuth<ServedWorkspace>;
  readonly #bodies: BodyReader;
  readonly #routes: RouteOptions;

  constructor(options: HttpAppOptions) {
    this.#options = options;
    this.#auth = new CallerAuth(options);
    this.#bodies = new BodyReader({ bytesMax: options.bodyBytesMax, clock: options.clock });
    const { clock, strictVersion } = options;
    const answers = new CacheableAnswers({ clock });
    this.#routes = {
      clock,
      strictVersion,
      answers,
      operate: (method, request, call) => operations[method](request, call),
    };
  }

  /** While no workspace has a caller only this machine is answered (product.md §5.2a). */
  refuseStranger(address: string): Response | undefined {
    const error = this.#strangerError(address);
    return error && restErrorAnswer(error);
  }

  async jsonRpc(request: Request, address: string): Promise<Response> {
    const admitted = this.#admit(request, address);
    if (admitted instanceof A2AError) return rpcErrorAnswer(admitted);
    const answer = await this.#bodies.withBody(
      request,
      (bytes) =>
        answerJsonRpc(request, { bytes, call: this.#call(request, { address, ...admitted }), options: this.#routes }),
    );
    return answer instanceof A2AError ? rpcErrorAnswer(answer) : answer;
  }

  async rest(request: Request, address: string): Promise<Response> {
    const contentType = answerType(request);
    const path = new URL(request.url).pathname.slice("/a2a/v1/".length);
    const match = matchRest(request.method === "HEAD" ? "GET" : request.method, path);
    const admitted = this.#admit(request, address);
    if (admitted instanceof A2AError) return restErrorAnswer(admitted, contentType);
    if (match.kind === "no route") return restErrorAnswer(new A2AError("ROUTE_NOT_FOUND"), contentType);
    if (match.kind === "wrong verb") return wrongVerb(match.allow);
    const answer = await this.#bodies.withBody(
      request,
      (bytes) =>
        answerRest(request, {
          bytes,
          call: this.#call(request, { address, ...admitted }),
          match,
          options: this.#routes,
        }),
    );
    return answer instanceof A2AError ? restErrorAnswer(answer, contentType) : answer;
  }

  /** All that is checked before the body is read. */
  #admit(request: Request, address: string): Authenticated<ServedWorkspace> | A2AError {
    const refused = this.#strangerError(address) ?? guardRequest(request, this.#options.guard);
    if (refused !== undefined) return refused;
    const admitted = this.#auth.authenticate(request.headers, address);
    if (admitted instanceof A2AError) return admitted;
    const hasBody = request.body !== null && request.method !== "GET";
    if (hasBody && !isJsonContentType(request.headers.get("Content-Type"))) {
      return new A2AError("UNSUPPORTED_MEDIA_TYPE");
    }
    return admitted;
  }

  #strangerError(address: string): A2AError | undefined {
    if (this.#auth.hasCallers || isLoopbackAddress(address)) return undefined;
    return new A2AError("FORBIDDEN", { message: "No caller is set up yet: only this machine is answered" });
  }

  #call(
    request: Request,
    { address, workspace, caller }: Authenticated<ServedWorkspace> & { readonly address: string },
  ): Call {
    const { clock, waitMs } = this.#options;
    return {
      caller: caller.caller,
      runs: workspace.runs,
      store: workspace.store,
      clock,
      waitMs,
      signal: new AbortController().signal,
      extendedCard: workspace.extendedCard(request, address),
    };
  }
}

function wrongVerb(allow: readonly string[]): Response {
  const answer = restErrorAnswer(new A2AError("METHOD_NOT_ALLOWED"));
  answer.headers.set("Allow", allow.join(", "));
  return answer;
}
