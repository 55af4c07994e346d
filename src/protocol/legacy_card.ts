import type { AgentCardJson, AgentProviderJson, AgentSkillJson, SecuritySchemeJson } from "./agent_card.ts";

/** An agent card of A2A 0.3 (§5.5), as far as we fill it in. */
export interface LegacyCardJson {
  readonly protocolVersion: "0.3.0";
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly url: string;
  readonly preferredTransport: LegacyTransport;
  /** All addresses, the preferred one too. */
  readonly additionalInterfaces: readonly { readonly url: string; readonly transport: LegacyTransport }[];
  readonly provider?: AgentProviderJson;
  readonly documentationUrl?: string;
  readonly iconUrl?: string;
  readonly capabilities: { readonly streaming: boolean; readonly pushNotifications: boolean };
  readonly securitySchemes: Readonly<Record<string, LegacySecuritySchemeJson>>;
  /** Alternatives: one of them is enough. Scopes by the name of a scheme. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly defaultInputModes: readonly string[];
  readonly defaultOutputModes: readonly string[];
  readonly skills: readonly AgentSkillJson[];
  readonly supportsAuthenticatedExtendedCard: boolean;
}

/** What is spoken at an address of 0.3. */
export type LegacyTransport = "JSONRPC" | "HTTP+JSON";

/** A security scheme as OpenAPI 3 writes it. */
export type LegacySecuritySchemeJson =
  | {
    readonly type: "apiKey";
    readonly description?: string;
    readonly in: "header" | "query" | "cookie";
    readonly name: string;
  }
  | { readonly type: "http"; readonly description?: string; readonly scheme: string; readonly bearerFormat?: string };

/**
 * Says in A2A 0.3 what a card of 1.0 says; undefined when the card has no address where 0.3 is spoken.
 *
 * Only those addresses are on it. Extensions are left out: their data travels in other headers there. Pure.
 */
export function legacyCard(card: AgentCardJson): LegacyCardJson | undefined {
  const interfaces = card.supportedInterfaces
    .filter(({ protocolVersion }) => protocolVersion === "0.3")
    .map(({ url, protocolBinding }) => ({ url, transport: protocolBinding }));
  const [preferred] = interfaces;
  if (preferred === undefined) return undefined;
  const { name, description, version, provider, documentationUrl, iconUrl, capabilities } = card;
  const { streaming, pushNotifications, extendedAgentCard } = capabilities;
  return {
    protocolVersion: "0.3.0",
    name,
    description,
    version,
    url: preferred.url,
    preferredTransport: preferred.transport,
    additionalInterfaces: interfaces,
    ...(provider && { provider }),
    ...(documentationUrl !== undefined && { documentationUrl }),
    ...(iconUrl !== undefined && { iconUrl }),
    capabilities: { streaming, pushNotifications },
    securitySchemes: Object.fromEntries(
      Object.entries(card.securitySchemes).map(([name, scheme]) => [name, legacyScheme(scheme)]),
    ),
    security: card.securityRequirements.map(({ schemes }) =>
      Object.fromEntries(Object.entries(schemes).map(([name, { list }]) => [name, list]))
    ),
    defaultInputModes: card.defaultInputModes,
    defaultOutputModes: card.defaultOutputModes,
    skills: card.skills,
    supportsAuthenticatedExtendedCard: extendedAgentCard,
  };
}

function legacyScheme(scheme: SecuritySchemeJson): LegacySecuritySchemeJson {
  if ("httpAuthSecurityScheme" in scheme) return { type: "http", ...scheme.httpAuthSecurityScheme };
  const { location, ...rest } = scheme.apiKeySecurityScheme;
  return { type: "apiKey", in: location, ...rest };
}
