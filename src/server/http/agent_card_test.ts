import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { version } from "@/version.ts";
import { type CardContent, type CardSettings, extendedCard, publicCard } from "./agent_card.ts";

const settings: CardSettings = { name: "Volcanic assistant", description: "Generic." };
const found = [{ id: "pdf", name: "PDF", description: "Reads PDFs." }];
const overrides = {
  name: "Eugene's assistant",
  description: "Schedules.",
  version: "7",
  documentationUrl: "https://d",
  iconUrl: "https://i",
  provider: { organization: "E", url: "https://e" },
  skills: [{ id: "scheduling", name: "Scheduling", description: "...", tags: ["calendar"] }],
};

Deno.test("publicCard() is what the example of the protocol is, and nothing else [§5.3 public-card]", () => {
  deepStrictEqual(publicCard("https://x", settings), {
    name: "Volcanic assistant",
    description: "Generic.",
    version,
    supportedInterfaces: [
      { url: "https://x/a2a", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url: "https://x/a2a/v1", protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
      { url: "https://x/a2a", protocolBinding: "JSONRPC", protocolVersion: "0.3" },
    ],
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
    securitySchemes: {
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
    },
    securityRequirements: [{ schemes: { apiKey: { list: [] } } }, { schemes: { bearer: { list: [] } } }],
    defaultInputModes: ["text/plain", "application/json", "application/octet-stream"],
    defaultOutputModes: ["text/plain", "application/json", "application/octet-stream"],
    skills: [{
      id: "chat",
      name: "Chat",
      description: "Talks with the assistant: questions, work to hand over, files in both directions.",
      tags: ["chat"],
    }],
  });
});

Deno.test("publicCard() names no address for 0.3 where it is not spoken, and other capabilities when told so", () => {
  const capabilities = { streaming: false, pushNotifications: false, extendedAgentCard: false };
  const card = publicCard("https://x", { ...settings, legacy: false, capabilities });
  deepStrictEqual(card.supportedInterfaces.map(({ protocolVersion }) => protocolVersion), ["1.0", "1.0"]);
  deepStrictEqual(card.capabilities, capabilities);
});

const rows: readonly { name: string; content: CardContent; shows: readonly [string, string, string] }[] = [
  { name: "the settings", content: { skills: [] }, shows: ["Volcanic assistant", "Generic.", "chat"] },
  { name: "PERSONA.md", content: { persona: "Kind.", skills: [] }, shows: ["Volcanic assistant", "Kind.", "chat"] },
  { name: "the skills", content: { skills: found }, shows: ["Volcanic assistant", "Generic.", "pdf"] },
  {
    name: "card.json before all",
    content: { overrides, persona: "Kind.", skills: found },
    shows: ["Eugene's assistant", "Schedules.", "scheduling"],
  },
  {
    name: "what card.json leaves open from elsewhere",
    content: { overrides: { name: "Bo" }, persona: "Kind.", skills: found },
    shows: ["Bo", "Kind.", "pdf"],
  },
  {
    name: "no blank text and no empty list of card.json",
    content: { overrides: { name: " ", description: "", version: "", skills: [] }, persona: " ", skills: found },
    shows: ["Volcanic assistant", "Generic.", "chat"],
  },
];

for (const { name, content, shows } of rows) {
  Deno.test(`extendedCard() shows ${name} [§5.3 extended-card]`, () => {
    const card = extendedCard("https://x", settings, content);
    deepStrictEqual([card.name, card.description, card.skills.map(({ id }) => id).join()], shows);
    ok(card.skills.every(({ tags }) => tags.length > 0));
    ok(card.version !== "");
  });
}

Deno.test("extendedCard() has what else card.json says [§5.3 extended-card]", () => {
  const { version, documentationUrl, iconUrl, provider } = extendedCard("https://x", settings, {
    overrides,
    skills: [],
  });
  const { skills: _skills, name: _name, description: _description, ...rest } = overrides;
  deepStrictEqual({ version, documentationUrl, iconUrl, provider }, rest);
});

Deno.test("extendedCard() cuts a first line that is a book", () => {
  strictEqual(
    extendedCard("https://x", settings, { persona: "x".repeat(65_536), skills: [] }).description.length,
    1000,
  );
});
