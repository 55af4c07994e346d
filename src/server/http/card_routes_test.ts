import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { makeRuns } from "@tests/fakes/run_service_fixture.ts";
import { parseAddressRange } from "@/address_range.ts";
import { systemRandom } from "@/random.ts";
import { CallersFile } from "@/workspace/callers_file.ts";
import { type CardsOptions, createCards } from "./card_routes.ts";
import { createHttpApp } from "./http_app.ts";

const aliceKey = "alice-key-0123456789";
const card10 = "/.well-known/agent-card.json";
const card03 = "/.well-known/agent.json";

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly address?: string;
}

/** The endpoints over a real folder, and what a test does with them. */
async function makeDoor(options: Partial<CardsOptions> & { readonly callers?: unknown } = {}) {
  const fixture = await makeRuns();
  const { runs, store, webhooks, clock, disk, paths } = fixture;
  const write = async (path: string, text: string) => {
    await Deno.mkdir(`${paths.root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(`${paths.root}/${path}`, text);
  };
  const callers = options.callers ?? [{ name: "alice", key: aliceKey, note: "NOTE" }];
  await write(".volcanic/a2a/callers.json", JSON.stringify(callers));
  const cards = createCards({
    settings: { name: "Volcanic assistant", description: "Generic." },
    publicUrl: undefined,
    trustedProxies: [parseAddressRange("10.0.0.0/8")!],
    clock,
    ...options,
  });
  const app = createHttpApp({
    workspaces: [{
      ...{ name: "home", runs, store, webhooks },
      callers: new CallersFile({ disk, clock, path: paths.callersFile }),
      extendedCard: cards.extended({ disk, clock, random: systemRandom, paths }),
    }],
    guard: { hostname: "127.0.0.1", publicUrl: options.publicUrl },
    bodyBytesMax: 1024,
    rates: { requestsPerMinute: Infinity, readsPerMinute: Infinity },
    strictVersion: false,
    waitMs: Infinity,
    clock,
    cards: cards.answer,
    notReady: () => [],
  });
  const ask = async (path: string, { address = "127.0.0.1", ...init }: Asked = {}) =>
    await app.fetch(new Request(`http://localhost:5099${path}`, init), { remoteAddr: { hostname: address } });
  const extended = async (path = "/a2a/v1/card", headers: Readonly<Record<string, string>> = {}) =>
    await ask(path, { headers: { "X-API-Key": aliceKey, ...headers } });
  return {
    ...{ paths, write, ask, extended },
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

Deno.test("the public card is for everyone, and generic [§5.3 public-card]", async () => {
  await using door = await makeDoor();
  await door.write("PERSONA.md", "SECRET persona");
  await door.write("skills/secret/SKILL.md", "SECRET skill");
  await door.write(".volcanic/a2a/card.json", JSON.stringify({ name: "SECRET card" }));
  const answer = await door.ask(card10, { address: "203.0.113.9" });
  strictEqual(answer.status, 200);
  strictEqual(answer.headers.get("Content-Type"), "application/json");
  strictEqual(answer.headers.get("Cache-Control"), "public, max-age=300");
  const card = await answer.json();
  deepStrictEqual([card.name, card.description, card.skills[0].id], ["Volcanic assistant", "Generic.", "chat"]);
  ok(!/SECRET|alice|NOTE/.test(JSON.stringify(card)));
});

const legacyMembers = [
  ...["url", "protocolVersion", "preferredTransport", "additionalInterfaces", "supportsAuthenticatedExtendedCard"],
  ...["security", "supportsExtendedAgentCard", "tenant", "signatures", "generation"],
];

Deno.test("both cards of 1.0 have the members that they must have, and none that the schema forbids [§5.3 closed-schema]", async () => {
  await using door = await makeDoor();
  for (const answer of [await door.ask(card10), await door.extended()]) {
    const card = await answer.json();
    deepStrictEqual(Object.keys(card), [
      ...["name", "description", "version", "supportedInterfaces", "capabilities", "securitySchemes"],
      ...["securityRequirements", "defaultInputModes", "defaultOutputModes", "skills"],
    ]);
    deepStrictEqual(legacyMembers.filter((member) => member in card), []);
    ok(!JSON.stringify(card).includes("$case"));
  }
});

Deno.test("the public card answers 304, HEAD, and refuses other verbs [§5.3 cacheable]", async () => {
  await using door = await makeDoor();
  const first = await door.ask(card10);
  const [etag, since] = [first.headers.get("ETag")!, first.headers.get("Last-Modified")!];
  strictEqual((await door.ask(card10, { headers: { "If-None-Match": etag } })).status, 304);
  strictEqual((await door.ask(card10, { headers: { "If-Modified-Since": since } })).status, 304);
  const head = await door.ask(card10, { method: "HEAD" });
  deepStrictEqual([head.status, await head.text(), head.headers.get("ETag")], [200, "", etag]);
  strictEqual(head.headers.get("Content-Length"), String((await first.bytes()).length));
  const posted = await door.ask(card10, { method: "POST", body: "{}" });
  deepStrictEqual([posted.status, posted.headers.get("Allow")], [405, "GET, HEAD, OPTIONS"]);
});

Deno.test("the public card may be read by pages of every origin, whatever the Host [§5.2b cards-exempt]", async () => {
  await using door = await makeDoor();
  const foreign = { Origin: "https://evil.example", Host: "rebound.example" };
  const answer = await door.ask(card10, { headers: foreign });
  deepStrictEqual([answer.status, answer.headers.get("Access-Control-Allow-Origin")], [200, "*"]);
  const known = await door.ask(card10, { headers: { ...foreign, "If-None-Match": answer.headers.get("ETag")! } });
  deepStrictEqual([known.status, known.headers.get("Access-Control-Allow-Origin")], [304, "*"]);
  for (const path of [card10, card03]) {
    const asked = await door.ask(path, {
      method: "OPTIONS",
      headers: { ...foreign, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "a2a-version" },
    });
    deepStrictEqual(
      [
        asked.status,
        ...["Origin", "Methods", "Headers"].map((name) => asked.headers.get(`Access-Control-Allow-${name}`)),
      ],
      [204, "*", "GET, HEAD", "*"],
    );
  }
  const extended = await door.extended("/a2a/v1/card", foreign);
  deepStrictEqual([extended.status, extended.headers.get("Access-Control-Allow-Origin")], [403, null]);
});

Deno.test("while nobody may call, only this machine sees the card [§5.2a card-loopback-only]", async () => {
  await using door = await makeDoor({ callers: [] });
  strictEqual((await door.ask(card10, { address: "203.0.113.9" })).status, 403);
  strictEqual((await door.ask(card10, { address: "203.0.113.9", method: "OPTIONS" })).status, 403);
  strictEqual((await door.ask(card10, { address: "::1" })).status, 200);
});

const publicUrl = new URL("https://peer.example.org/bo/");
const forwarded = { Host: "a2a.example.com", "X-Forwarded-Proto": "https" };
const addresses: readonly { name: string; publicUrl?: URL; asked: Asked; base: string }[] = [
  {
    name: "behind a trusted proxy",
    asked: { headers: forwarded, address: "10.0.0.1" },
    base: "https://a2a.example.com",
  },
  { name: "from elsewhere", asked: { headers: forwarded, address: "192.0.2.1" }, base: "http://a2a.example.com" },
  {
    name: "behind a trusted proxy, with PublicUrl",
    publicUrl,
    asked: { headers: forwarded, address: "10.0.0.1" },
    base: "https://peer.example.org/bo",
  },
  {
    name: "from elsewhere, with PublicUrl",
    publicUrl,
    asked: { headers: forwarded, address: "192.0.2.1" },
    base: "https://peer.example.org/bo",
  },
];

for (const { name, publicUrl, asked, base } of addresses) {
  Deno.test(`cards name the right addresses ${name} [case 20]`, async () => {
    await using door = await makeDoor({ publicUrl });
    const answer = await door.ask(card10, asked);
    const { supportedInterfaces } = await answer.json();
    deepStrictEqual(supportedInterfaces, [
      { url: `${base}/a2a`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url: `${base}/a2a/v1`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
      { url: `${base}/a2a`, protocolBinding: "JSONRPC", protocolVersion: "0.3" },
    ]);
    strictEqual(answer.headers.get("Vary"), "A2A-Version, X-Forwarded-Host, X-Forwarded-Proto");
    strictEqual((await (await door.ask(card03, asked)).json()).url, `${base}/a2a`);
  });
}

for (const host of ["a/b", "a b", "a@b", "a?b#c", "a:99999", "[::1"]) {
  Deno.test(`a Host that is none is refused before any route: ${host} [§5.2b odd-host]`, async () => {
    await using door = await makeDoor();
    for (const path of [card10, "/a2a", "/a2a/v1/tasks", "/healthz", "/none"]) {
      strictEqual((await door.ask(path, { headers: { Host: host } })).status, 400);
    }
  });
}

Deno.test("the extended card names the addresses that its caller used [case 20]", async () => {
  await using door = await makeDoor();
  const { supportedInterfaces } = await (await door.extended("/a2a/v1/card", { Host: "127.0.0.1:7000" })).json();
  strictEqual(supportedInterfaces[0].url, "http://127.0.0.1:7000/a2a");
});

const versions: readonly { path: string; version?: string; gives: "0.3.0" | "1.0" }[] = [
  { path: card10, gives: "1.0" },
  { path: card10, version: "1.0", gives: "1.0" },
  { path: card10, version: "0.3", gives: "0.3.0" },
  { path: card10, version: "0.3.1", gives: "0.3.0" },
  { path: card10, version: "9.9", gives: "1.0" },
  { path: `${card10}?A2A-Version=0.3`, gives: "0.3.0" },
  { path: `${card10}?A2A-Version=0.3`, version: "1.0", gives: "1.0" },
  { path: card03, gives: "0.3.0" },
  { path: card03, version: "1.0", gives: "0.3.0" },
];

for (const { path, version, gives } of versions) {
  Deno.test(`${path} asked for with version ${version ?? "none"} is the card of ${gives} [§5.3 legacy-card]`, async () => {
    await using door = await makeDoor();
    const answer = await door.ask(path, { headers: version === undefined ? {} : { "A2A-Version": version } });
    deepStrictEqual([answer.status, answer.headers.get("Access-Control-Allow-Origin")], [200, "*"]);
    const card = await answer.json();
    strictEqual(card.protocolVersion ?? card.supportedInterfaces[0].protocolVersion, gives);
    strictEqual("supportedInterfaces" in card, gives === "1.0");
  });
}

Deno.test("there is no card of 0.3 where 0.3 is not spoken [§5.3 legacy-card]", async () => {
  await using door = await makeDoor({ settings: { name: "Bo", description: "x", legacy: false } });
  strictEqual((await door.ask(card03)).status, 404);
  strictEqual((await door.ask(card10, { headers: { "A2A-Version": "0.3" } })).status, 400);
  strictEqual((await door.ask(card10)).status, 200);
});

Deno.test("the extended card needs a key, on both bindings [§5.3 extended-card]", async () => {
  await using door = await makeDoor();
  await door.write("PERSONA.md", "Kind.");
  for (const path of ["/a2a/v1/card", "/a2a/v1/extendedAgentCard"]) {
    strictEqual((await door.ask(path)).status, 401);
    strictEqual((await (await door.extended(path)).json()).description, "Kind.");
  }
  const rpc = {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": aliceKey },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetExtendedAgentCard" }),
  };
  strictEqual((await (await door.ask("/a2a", rpc)).json()).result.description, "Kind.");
  strictEqual((await door.ask("/a2a", { ...rpc, headers: { "Content-Type": "application/json" } })).status, 401);
});

Deno.test("the extended card is its caller's alone, and not kept on the way [§5.3 cacheable]", async () => {
  await using door = await makeDoor();
  const answer = await door.extended("/a2a/v1/card", { Accept: "application/a2a+json" });
  deepStrictEqual(
    ["Cache-Control", "Content-Type", "Access-Control-Allow-Origin"].map((name) => answer.headers.get(name)),
    ["private, no-store", "application/a2a+json", null],
  );
  const again = { "If-None-Match": answer.headers.get("ETag")! };
  strictEqual((await door.extended("/a2a/v1/card", again)).status, 304);
  await door.write("PERSONA.md", "Kind.");
  strictEqual((await door.extended("/a2a/v1/card", again)).status, 200);
});

Deno.test("the extended card over REST comes in 0.3, too [§5.3 legacy-card]", async () => {
  await using door = await makeDoor();
  const card = await (await door.extended("/a2a/v1/card", { "A2A-Version": "0.3" })).json();
  deepStrictEqual([card.protocolVersion, card.url], ["0.3.0", "http://localhost:5099/a2a"]);
});

Deno.test("edits of card.json, PERSONA.md and skills are on the very next card [§5.3 fresh, §4 edits-hold-at-once]", async () => {
  await using door = await makeDoor();
  const shown = async () => {
    const { name, description, skills } = await (await door.extended()).json();
    return [name, description, skills.map(({ id }: { id: string }) => id).join()];
  };
  deepStrictEqual(await shown(), ["Volcanic assistant", "Generic.", "chat"]);
  await door.write("PERSONA.md", "\n  Kind.\nMore.\n");
  await door.write("skills/pdf/SKILL.md", "---\nname: PDF\n---\nReads.");
  await door.write(".agents/skills/web/SKILL.md", "Searches.");
  deepStrictEqual(await shown(), ["Volcanic assistant", "Kind.", "pdf,web"]);
  await door.write(".volcanic/a2a/card.json", JSON.stringify({ name: "Bo" }));
  deepStrictEqual(await shown(), ["Bo", "Kind.", "pdf,web"]);
  await door.write(".volcanic/a2a/card.json", JSON.stringify({ name: "Al", description: "Mine." }));
  await Deno.remove(`${door.paths.root}/skills`, { recursive: true });
  deepStrictEqual(await shown(), ["Al", "Mine.", "web"]);
  await door.write(".volcanic/a2a/card.json", "{");
  deepStrictEqual(await shown(), ["Volcanic assistant", "Kind.", "web"]);
});

Deno.test("no link shows its target on any card, and no key of callers.json is there [DM2 not-through-a-link, §6 card-links]", async () => {
  const callers = [{ name: "alice", key: aliceKey }, { name: "bob", key: "bob-key-9876543210" }];
  await using door = await makeDoor({ callers });
  const { root, callersFile } = door.paths;
  await Deno.symlink(callersFile, `${root}/PERSONA.md`);
  await Deno.mkdir(`${root}/skills/a`, { recursive: true });
  await Deno.symlink(callersFile, `${root}/skills/a/SKILL.md`);
  await Deno.symlink(`${root}/.volcanic/a2a`, `${root}/skills/b`);
  await Deno.mkdir(`${root}/outside`);
  await Deno.writeTextFile(`${root}/outside/SKILL.md`, "SECRET");
  await Deno.symlink(`${root}/outside`, `${root}/skills/c`);
  for (const answer of [await door.ask(card10), await door.ask(card03), await door.extended()]) {
    const text = await answer.text();
    ok(!/key-|SECRET|alice|bob/.test(text), text);
    ok(text.includes('"Generic."') && text.includes('"chat"'));
  }
});
