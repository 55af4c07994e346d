import { A2AError } from "@/protocol/errors.ts";
import { legacyCard } from "@/protocol/legacy_card.ts";
import { type ProtocolVersion, protocolVersion } from "@/protocol/protocol_version.ts";
import type { Call } from "@/server/operations/call.ts";
import type { Clock } from "@/time/clock.ts";
import { type CardSettings, publicCard } from "./agent_card.ts";
import { restErrorAnswer } from "./answers.ts";
import { baseUrl, type BaseUrlOptions } from "./base_url.ts";
import { CacheableAnswers } from "./cacheable_answer.ts";
import { WorkspaceCard, type WorkspaceCardOptions } from "./workspace_card.ts";

/** Where public cards are: A2A 1.0 §8.2, and where 0.3's first clients look. */
export const cardPaths = ["/.well-known/agent-card.json", "/.well-known/agent.json"] as const;

/** What the cards of a host are made of. */
export interface CardsOptions extends BaseUrlOptions {
  readonly settings: CardSettings;
  readonly clock: Clock;
}

/** The cards of a host. */
export interface Cards {
  /** Answers GET, HEAD and OPTIONS of `cardPaths`, for a request that came from `address`. */
  answer(request: Request, address: string): Promise<Response>;
  /** The card of a workspace's callers, built anew for each request that asks for it. */
  extended(workspace: WorkspaceCardOptions): (request: Request, address: string) => Call["extendedCard"];
}

/** Makes the cards of a host (product.md §5.3). Reads nothing before it is asked. */
export function createCards({ settings, clock, ...base }: CardsOptions): Cards {
  const answers = new CacheableAnswers({ clock });
  const baseOf = (request: Request, address: string) => baseUrl(request, { ...base, address });
  return {
    answer: (request, address) =>
      Promise.resolve(
        request.method === "OPTIONS"
          ? preflight()
          : answerCard(request, { base: baseOf(request, address), settings, answers }),
      ),
    extended(workspace) {
      const card = new WorkspaceCard(workspace);
      return (request, address) => () => card.read(baseOf(request, address), settings);
    },
  };
}

/** A caller's card as it goes out over HTTP+JSON. */
export interface ExtendedAnswer {
  /** In the JSON of its version. */
  readonly card: unknown;
  readonly version: ProtocolVersion;
  readonly contentType: string;
  /** Whose card it is: content of one caller is not compared with another's. */
  readonly caller: string;
  readonly answers: CacheableAnswers;
}

/** Answers a request for a caller's card over HTTP+JSON: it is for that caller alone, and never kept on the way (product.md §5.3). */
export function answerExtendedCard(
  request: Request,
  { card, version, contentType, caller, answers }: ExtendedAnswer,
): Response {
  const resource = `${caller} ${version} ${request.url}`;
  return answers.answer(request, {
    resource,
    text: JSON.stringify(card),
    contentType,
    cacheControl: "private, no-store",
  });
}

/** Pages of every origin may read the public card (product.md §5.2b). */
const anyOrigin = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "ETag" };

function preflight(): Response {
  const allowed = {
    "Access-Control-Allow-Methods": "GET, HEAD",
    "Access-Control-Allow-Headers": "*",
    "Access-Control-Max-Age": "86400",
  };
  return new Response(null, { status: 204, headers: { ...anyOrigin, ...allowed } });
}

/**
 * The card of 0.3 at its own path and for who asks for 0.3, else that of 1.0: who asks for another version, or for none, reads
 * there which there are (protocol.md S16).
 */
function answerCard(
  request: Request,
  { base, settings, answers }: { base: string; settings: CardSettings; answers: CacheableAnswers },
): Response {
  const { pathname, searchParams } = new URL(request.url);
  const isLegacyPath = pathname === cardPaths[1];
  const named = { header: request.headers.get("A2A-Version"), query: searchParams.get("A2A-Version") };
  const isLegacy = isLegacyPath || protocolVersion(named) === "0.3";
  const card = publicCard(base, settings);
  const served = isLegacy ? legacyCard(card) : card;
  if (served === undefined) {
    return restErrorAnswer(new A2AError(isLegacyPath ? "ROUTE_NOT_FOUND" : "VERSION_NOT_SUPPORTED"));
  }
  return answers.answer(request, {
    resource: `${isLegacy ? "0.3" : "1.0"} ${base}`,
    text: JSON.stringify(served),
    contentType: "application/json",
    cacheControl: "public, max-age=300",
    headers: { ...anyOrigin, Vary: "A2A-Version, X-Forwarded-Host, X-Forwarded-Proto" },
  });
}
