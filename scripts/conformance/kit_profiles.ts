import type { AgentCapabilitiesJson } from "@/protocol/agent_card.ts";

/** The extension that the kit knows, and that no client of it ever names. */
export const kitExtension = "urn:a2a:tck:required-extension";

/** What the server says it can do in each profile. The kit has no key for the extended card, so none is served. */
export const kitProfiles = {
  full: { streaming: true, pushNotifications: true, extendedAgentCard: false },
  quiet: { streaming: false, pushNotifications: false, extendedAgentCard: false },
  extension: {
    ...{ streaming: true, pushNotifications: true, extendedAgentCard: false },
    extensions: [{ uri: kitExtension, description: "Changes nothing; it must only be named.", required: true }],
  },
} as const satisfies Readonly<Record<string, AgentCapabilitiesJson>>;

/** The name of a profile. */
export type KitProfile = keyof typeof kitProfiles;
