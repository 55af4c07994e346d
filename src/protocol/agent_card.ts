/** An agent card of A2A 1.0 (§4.4.1), as far as we fill it in. */
export interface AgentCardJson {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly provider?: { readonly organization: string; readonly url: string };
  readonly documentationUrl?: string;
  readonly iconUrl?: string;
  /** In the order in which we would be called. */
  readonly supportedInterfaces: readonly AgentInterfaceJson[];
  readonly capabilities: {
    readonly streaming: boolean;
    readonly pushNotifications: boolean;
    readonly extendedAgentCard: boolean;
  };
  readonly securitySchemes: Readonly<Record<string, unknown>>;
  readonly securityRequirements: readonly unknown[];
  readonly defaultInputModes: readonly string[];
  readonly defaultOutputModes: readonly string[];
  /** At least one. */
  readonly skills: readonly AgentSkillJson[];
}

/** One address of an agent, and what is spoken there. */
export interface AgentInterfaceJson {
  readonly url: string;
  readonly protocolBinding: "JSONRPC" | "HTTP+JSON";
  /** Major and minor, no patch (A2A 1.0 §3.6). */
  readonly protocolVersion: "1.0" | "0.3";
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
