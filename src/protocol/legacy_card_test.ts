import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { AgentCardJson } from "./agent_card.ts";
import { legacyCard } from "./legacy_card.ts";

const skill = { id: "chat", name: "Chat", description: "Talks.", tags: ["chat"], examples: ["Hello"] };

const card: AgentCardJson = {
  name: "Bo",
  description: "Helps.",
  version: "1",
  provider: { organization: "E", url: "https://e" },
  documentationUrl: "https://d",
  iconUrl: "https://i",
  supportedInterfaces: [
    { url: "https://x/a2a", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    { url: "https://x/a2a/v1", protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
    { url: "https://x/a2a", protocolBinding: "JSONRPC", protocolVersion: "0.3" },
  ],
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: true, extensions: [{ uri: "urn:x" }] },
  securitySchemes: {
    apiKey: { apiKeySecurityScheme: { description: "A key.", location: "header", name: "X-API-Key" } },
    bearer: { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "opaque" } },
  },
  securityRequirements: [{ schemes: { apiKey: { list: [] } } }, { schemes: { bearer: { list: ["read"] } } }],
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["application/json"],
  skills: [skill],
};

Deno.test("legacyCard() says in 0.3 all that a card of 1.0 says [§5.3 legacy-card]", () => {
  deepStrictEqual(legacyCard(card), {
    protocolVersion: "0.3.0",
    name: "Bo",
    description: "Helps.",
    version: "1",
    url: "https://x/a2a",
    preferredTransport: "JSONRPC",
    additionalInterfaces: [{ url: "https://x/a2a", transport: "JSONRPC" }],
    provider: { organization: "E", url: "https://e" },
    documentationUrl: "https://d",
    iconUrl: "https://i",
    capabilities: { streaming: true, pushNotifications: false },
    securitySchemes: {
      apiKey: { type: "apiKey", description: "A key.", in: "header", name: "X-API-Key" },
      bearer: { type: "http", scheme: "Bearer", bearerFormat: "opaque" },
    },
    security: [{ apiKey: [] }, { bearer: ["read"] }],
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["application/json"],
    skills: [skill],
    supportsAuthenticatedExtendedCard: true,
  });
});

Deno.test("legacyCard() of a card without an address for 0.3 is none [§5.3 legacy-card]", () => {
  const supportedInterfaces = card.supportedInterfaces.slice(0, 2);
  strictEqual(legacyCard({ ...card, supportedInterfaces }), undefined);
});
