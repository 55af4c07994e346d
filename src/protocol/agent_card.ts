/** An agent card of A2A 1.0 (§4.4.1), as far as we fill it in. It has no other member: its schema is closed (protocol.md P10). */
export interface AgentCardJson {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly provider?: AgentProviderJson;
  readonly documentationUrl?: string;
  readonly iconUrl?: string;
  /** In the order in which we would be called; at least one. */
  readonly supportedInterfaces: readonly AgentInterfaceJson[];
  readonly capabilities: AgentCapabilitiesJson;
  readonly securitySchemes: Readonly<Record<string, SecuritySchemeJson>>;
  /** Alternatives: one of them is enough. */
  readonly securityRequirements: readonly SecurityRequirementJson[];
  /** Media types; at least one. */
  readonly defaultInputModes: readonly string[];
  readonly defaultOutputModes: readonly string[];
  /** At least one. */
  readonly skills: readonly AgentSkillJson[];
}

/** Who offers an agent. */
export interface AgentProviderJson {
  readonly organization: string;
  readonly url: string;
}

/** One address of an agent, and what is spoken there. The URL is absolute and has no slash at its end. */
export interface AgentInterfaceJson {
  readonly url: string;
  readonly protocolBinding: "JSONRPC" | "HTTP+JSON";
  /** Major and minor, no patch (A2A 1.0 §3.6). */
  readonly protocolVersion: "1.0" | "0.3";
}

/** What of A2A an agent can do beyond the plain request and answer. */
export interface AgentCapabilitiesJson {
  readonly streaming: boolean;
  readonly pushNotifications: boolean;
  readonly extendedAgentCard: boolean;
  readonly extensions?: readonly AgentExtensionJson[];
}

/** An extension of A2A that an agent speaks; with `required` it refuses who does not. */
export interface AgentExtensionJson {
  readonly uri: string;
  readonly description?: string;
  readonly required?: boolean;
}

/** How a caller shows who it is: the member's name says which way (A2A 1.0 §4.5). */
export type SecuritySchemeJson =
  | { readonly apiKeySecurityScheme: ApiKeySchemeJson }
  | { readonly httpAuthSecurityScheme: HttpAuthSchemeJson };

/** A key in a header, the query or a cookie. */
export interface ApiKeySchemeJson {
  readonly description?: string;
  readonly location: "header" | "query" | "cookie";
  readonly name: string;
}

/** A scheme of the `Authorization` header. */
export interface HttpAuthSchemeJson {
  readonly description?: string;
  readonly scheme: string;
  readonly bearerFormat?: string;
}

/** Schemes by name that are needed together, each with its scopes. */
export interface SecurityRequirementJson {
  readonly schemes: Readonly<Record<string, { readonly list: readonly string[] }>>;
}

/** What an agent says it can do. `tags` has at least one. */
export interface AgentSkillJson {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples?: readonly string[];
  readonly inputModes?: readonly string[];
  readonly outputModes?: readonly string[];
}
