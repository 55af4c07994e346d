import type {
  AgentCapabilitiesJson,
  AgentCardJson,
  AgentInterfaceJson,
  AgentSkillJson,
} from "@/protocol/agent_card.ts";
import { version } from "@/version.ts";
import type { CardOverrides } from "@/workspace/card_file.ts";
import { plainLine } from "@/workspace/plain_line.ts";
import type { FoundSkill } from "@/workspace/skill_files.ts";

/** What every card of this host has in common. */
export interface CardSettings {
  /** `A2A__Card__Name` and `A2A__Card__Description`. */
  readonly name: string;
  readonly description: string;
  /** Whether A2A 0.3 is spoken at the JSON-RPC endpoint, too. Absent: it is. */
  readonly legacy?: boolean;
  /** Absent: `ourCapabilities`. */
  readonly capabilities?: AgentCapabilitiesJson;
}

/** What this program can do. */
export const ourCapabilities: AgentCapabilitiesJson = {
  streaming: true,
  pushNotifications: true,
  extendedAgentCard: true,
};

/** What of a workspace is on its callers' card. */
export interface CardContent {
  /** `card.json`. */
  readonly overrides?: CardOverrides;
  /** The first line of `PERSONA.md`. */
  readonly persona?: string;
  /** What `readSkillFiles` finds. */
  readonly skills: readonly FoundSkill[];
}

/** Makes the card that strangers see: it tells nothing of any workspace, nor of the machine (product.md §5.3). */
export function publicCard(baseUrl: string, settings: CardSettings): AgentCardJson {
  return extendedCard(baseUrl, settings, { skills: [] });
}

/**
 * Makes the card that a workspace's callers see: what `card.json` says, else `PERSONA.md` and the skills that were found, else
 * the settings (product.md §5.3).
 *
 * A text that is blank counts as absent. There is at least one skill: `chat` when there is no other.
 */
export function extendedCard(baseUrl: string, settings: CardSettings, content: CardContent): AgentCardJson {
  const { overrides = {}, persona = "", skills } = content;
  const { provider, documentationUrl, iconUrl } = overrides;
  const listed = overrides.skills ?? skills.map(skillOf);
  return {
    name: given(overrides.name) ?? settings.name,
    description: given(overrides.description) ?? given(plainLine(persona, personaCharsMax)) ?? settings.description,
    version: given(overrides.version) ?? version,
    ...(provider && { provider }),
    ...(given(documentationUrl) && { documentationUrl }),
    ...(given(iconUrl) && { iconUrl }),
    supportedInterfaces: interfacesAt(baseUrl, settings.legacy ?? true),
    capabilities: settings.capabilities ?? ourCapabilities,
    securitySchemes,
    securityRequirements: [{ schemes: { apiKey: { list: [] } } }, { schemes: { bearer: { list: [] } } }],
    defaultInputModes: mediaTypes,
    defaultOutputModes: mediaTypes,
    skills: listed.length > 0 ? listed : [chat],
  };
}

const personaCharsMax = 1000;

/** Both ways to show the one key of a caller (protocol.md 4). */
const securitySchemes: AgentCardJson["securitySchemes"] = {
  apiKey: {
    apiKeySecurityScheme: {
      description: "Caller key sent in the X-API-Key header.",
      location: "header",
      name: "X-API-Key",
    },
  },
  bearer: {
    httpAuthSecurityScheme: {
      description: "The same caller key sent as a bearer token.",
      scheme: "Bearer",
      bearerFormat: "opaque",
    },
  },
};

/** Text, data and files of any kind, in both directions. */
const mediaTypes = ["text/plain", "application/json", "application/octet-stream"];

const chat: AgentSkillJson = {
  id: "chat",
  name: "Chat",
  description: "Talks with the assistant: questions, work to hand over, files in both directions.",
  tags: ["chat"],
};

/** The latest version first, and 0.3 last: a client takes the first that it speaks. */
function interfacesAt(baseUrl: string, legacy: boolean): readonly AgentInterfaceJson[] {
  const rpc = { url: `${baseUrl}/a2a`, protocolBinding: "JSONRPC" } as const;
  return [
    { ...rpc, protocolVersion: "1.0" },
    { url: `${baseUrl}/a2a/v1`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
    ...(legacy ? [{ ...rpc, protocolVersion: "0.3" } as const] : []),
  ];
}

function skillOf({ id, name, description }: FoundSkill): AgentSkillJson {
  return { id, name, description, tags: ["skill"] };
}

function given(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === "" ? undefined : text;
}
