import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { addAgent, removeAgent } from "./agents_editor.ts";
import { AgentsFile, parseAgents } from "./agents_file.ts";
import { createDisk } from "./disk.ts";

const parse = (json: unknown) =>
  parseAgents({ kind: "bytes", bytes: new TextEncoder().encode(JSON.stringify(json)) }, "agents.json");

Deno.test("parseAgents() reads 000's example [seed 000 agents.json]", () => {
  const { agents, problems } = parse([
    { name: "travel-bot", url: "https://travel.example/", key: "k_3f9c2a...", description: "Plans trips" },
  ]);
  deepStrictEqual(problems, []);
  const [agent] = agents;
  ok(agent?.key?.kind === "literal");
  strictEqual(agent.key.secret.reveal(), "k_3f9c2a...");
  deepStrictEqual({ ...agent, key: undefined }, {
    name: "travel-bot",
    at: { kind: "url", url: "https://travel.example/" },
    description: "Plans trips",
    key: undefined,
    headers: {},
    pinOrigin: true,
    allowPrivate: undefined,
  });
});

Deno.test("parseAgents() reads every field of ours, and shows no secret [DM3 fields]", () => {
  const read = parse([
    {
      name: "a",
      url: "http://localhost:5099/",
      key: "env:A2A_KEY_TRAVEL",
      headers: { "X-Team": "s3cret" },
      unknown: 1,
    },
    { name: "b", workspace: "research", pinOrigin: false, allowPrivate: true },
    { name: "c", url: "https://c.example/card.json", key: "file:/run/credentials/c", allowPrivate: false },
  ]);
  deepStrictEqual(read.skipped, []);
  const [a, b, c] = read.agents;
  deepStrictEqual(a?.key, { kind: "env", variable: "A2A_KEY_TRAVEL" });
  strictEqual(a?.headers["X-Team"]?.reveal(), "s3cret");
  strictEqual(JSON.stringify(read).includes("s3cret"), false);
  deepStrictEqual([b?.at, b?.pinOrigin, b?.allowPrivate], [{ kind: "workspace", workspace: "research" }, false, true]);
  deepStrictEqual([c?.key, c?.allowPrivate], [{ kind: "file", path: "/run/credentials/c" }, false]);
});

const url = "https://x.example/";
const badEntries: readonly { name: string; entry: unknown }[] = [
  { name: "a text", entry: "k_secret" },
  { name: "a bad name", entry: { name: "X", url } },
  { name: "a reserved name", entry: { name: "a2a", url } },
  { name: "neither url nor workspace", entry: { name: "x" } },
  { name: "both url and workspace", entry: { name: "x", url, workspace: "y" } },
  { name: "a relative url", entry: { name: "x", url: "/a2a" } },
  { name: "a url without host", entry: { name: "x", url: "https://" } },
  { name: "a file url", entry: { name: "x", url: "file:///etc/passwd" } },
  { name: "a url with a password", entry: { name: "x", url: "https://me:k_secret@x.example/" } },
  { name: "a url that is too long", entry: { name: "x", url: url + "a".repeat(2048) } },
  { name: "an empty key", entry: { name: "x", url, key: "" } },
  { name: "a key with a line feed", entry: { name: "x", url, key: "k_secret\r\nHost: evil" } },
  { name: "a variable that is not for agents", entry: { name: "x", url, key: "env:ANTHROPIC_API_KEY" } },
  { name: "a variable without a name", entry: { name: "x", url, key: "env:A2A_KEY_" } },
  { name: "a variable in small letters", entry: { name: "x", url, key: "env:a2a_key_x" } },
  { name: "a relative file", entry: { name: "x", url, key: "file:../../etc/shadow" } },
  { name: "headers as text", entry: { name: "x", url, headers: "a: b" } },
  { name: "a header that is no text", entry: { name: "x", url, headers: { a: 1 } } },
  { name: "a header name with a colon", entry: { name: "x", url, headers: { "a:b": "c" } } },
  { name: "a header value with a line feed", entry: { name: "x", url, headers: { a: "k_secret\nb" } } },
  {
    name: "33 headers",
    entry: { name: "x", url, headers: Object.fromEntries(Array(33).keys().map((n) => [`h${n}`, ""])) },
  },
  { name: "pinOrigin as text", entry: { name: "x", url, pinOrigin: "no" } },
  { name: "allowPrivate as number", entry: { name: "x", url, allowPrivate: 1 } },
];

for (const { name, entry } of badEntries) {
  Deno.test(`parseAgents() skips an entry with ${name}, reads the others, and shows no value [DM3 bad-entry]`, () => {
    const read = parse([{ name: "good", url }, entry]);
    deepStrictEqual(read.agents.map(({ name }) => name), ["good"]);
    strictEqual(read.skipped[0]?.number, 2);
    strictEqual(/k_secret|ANTHROPIC|shadow|passwd/.test(read.problems.join()), false, read.problems.join());
  });
}

Deno.test("parseAgents() keeps the first of two entries with one name [seed 000 agents.json]", () => {
  const { agents, problems } = parse([{ name: "x", url: "https://1.example" }, { name: "x", url }]);
  deepStrictEqual(agents.map(({ at }) => at), [{ kind: "url", url: "https://1.example" }]);
  deepStrictEqual(problems, ['Skipped entry 2 "x" of agents.json: an earlier entry has its name']);
});

Deno.test("AgentsFile.read(): a missing file is no agents, a malformed one is said to be [DM3 malformed, §4 missing-is-none]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/agents.json`;
  const file = new AgentsFile({ disk: createDisk(systemClock), clock: systemClock, path });
  deepStrictEqual(file.read(), { agents: [], skipped: [], malformed: false, problems: [] });
  for (const text of ["", "{}", "[", JSON.stringify(Array(501).fill({}))]) {
    await Deno.writeTextFile(path, text);
    const { malformed, agents, problems } = file.read();
    deepStrictEqual([malformed, agents, problems.length], [true, [], 1]);
    match(problems[0]!, /^Cannot read .*agents\.json: /);
  }
});

Deno.test("addAgent() and removeAgent() edit the file, and refuse what would not be read [DM3 fields, §12]", async () => {
  await using folder = await makeTempFolder();
  const disk = createDisk(systemClock);
  const path = `${folder.path}/.volcanic/a2a/agents.json`;
  const file = { disk, random: systemRandom, path, lock: `${folder.path}/.volcanic/a2a/edit.lock` };
  deepStrictEqual(await addAgent(file, { name: "a", url, key: "k", custom: 1 }), { kind: "added" });
  deepStrictEqual(await addAgent(file, { name: "b", workspace: "w" }, { workspaces: ["w"] }), { kind: "added" });
  const refusals: readonly [Record<string, unknown>, RegExp][] = [
    [{ name: "a", url }, /name is taken/],
    [{ name: "c", url: "ftp://x" }, /"url" must be/],
    [{ name: "c", url, workspace: "w" }, /exactly one/],
    [{ name: "c", workspace: "v" }, /no workspace "v"/],
    [{ name: "c", url, key: "env:HOME" }, /"key" must be/],
  ];
  for (const [agent, why] of refusals) {
    const refused = await addAgent(file, agent, { workspaces: ["w"] });
    ok(refused.kind === "refused");
    match(refused.why, why);
  }
  deepStrictEqual(await removeAgent(file, "b"), { kind: "removed" });
  strictEqual((await removeAgent(file, "b")).kind, "refused");
  deepStrictEqual(JSON.parse(await Deno.readTextFile(path)), [{ name: "a", url, key: "k", custom: 1 }]);
});
