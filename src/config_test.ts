import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { type Config, type ConfigSources, readConfig, settings } from "./config.ts";

function read(sources: ConfigSources): Config {
  const result = readConfig(sources);
  if (result.kind === "problems") throw new Error(result.problems.join("\n"));
  return result.config;
}

function problems(sources: ConfigSources): readonly string[] {
  const result = readConfig(sources);
  return result.kind === "problems" ? result.problems : [];
}

const file = (content: unknown) => ({ path: "peer.json", text: JSON.stringify(content) });

Deno.test("readConfig() gives each default, read by the setting's own parser [§16 defaults]", () => {
  const config = read({});
  const rows = Object.entries(config).map(([name, { value, source }]) => [name, value, source]);
  deepStrictEqual(rows, [
    ["enabled", true, "default"],
    ["listen", { hostname: "127.0.0.1", port: 5099 }, "default"],
    ["publicUrl", undefined, "none"],
    ["trustedProxies", [], "default"],
    ["strictVersion", false, "default"],
    ["bodyBytesMax", 33_554_432, "default"],
    ["requestsPerMinute", 60, "default"],
    ["readsPerMinute", 600, "default"],
    ["cardName", "Volcanic assistant", "default"],
    [
      "cardDescription",
      "A personal assistant that talks and works with other agents on behalf of its owner.",
      "default",
    ],
    ["engine", undefined, "none"],
    ["model", undefined, "none"],
    ["modelBaseUrl", undefined, "none"],
    ["modelKey", undefined, "none"],
    ["modelContextTokens", undefined, "none"],
    ["modelSilenceMs", 300_000, "default"],
    ["modelFiles", undefined, "none"],
    ["maxHops", 3, "default"],
    ["sessionIdleMs", 1_800_000, "default"],
    ["fileBytesMax", 10_485_760, "default"],
    ["waitMs", Infinity, "default"],
    ["hide", [], "default"],
    ["durability", "disk", "default"],
    ["concurrentRuns", 3, "default"],
    ["queuedRuns", 32, "default"],
    ["turnsPerContext", 60, "default"],
    ["delegatedTurnsInRow", 20, "default"],
    ["runMs", 86_400_000, "default"],
    ["inputMs", 2_592_000_000, "default"],
    ["keepMs", 2_592_000_000, "default"],
    ["storedTasksMax", 10_000, "default"],
    ["openSessionsMax", 100, "default"],
    ["activeWebhooks", 200, "default"],
    ["pushesPerMinute", 60, "default"],
    ["noticesPerHour", 20, "default"],
    ["bash", "boxed", "default"],
    ["execCommand", undefined, "none"],
    ["boxMemoryBytes", 2_147_483_648, "default"],
    ["boxProcesses", 256, "default"],
    ["boxMs", 3_600_000, "default"],
    ["boxOutputBytes", 67_108_864, "default"],
    ["boxScratchBytes", 268_435_456, "default"],
    ["callerDiskBytes", 1_073_741_824, "default"],
    ["freeBytesMin", 268_435_456, "default"],
    ["allowPrivatePushUrls", false, "default"],
    ["outboundAllow", [], "default"],
    ["outboundDeny", [], "default"],
    ["nat64", "refuse", "default"],
    ["caFile", undefined, "none"],
    ["drainMs", 30_000, "default"],
    ["logLevel", "info", "default"],
  ]);
});

Deno.test("settings name themselves three ways, each once [§16 names]", () => {
  deepStrictEqual(
    [settings.sessionIdleMs.key, settings.sessionIdleMs.env, settings.sessionIdleMs.flag],
    ["SessionIdleTimeout", "A2A__SessionIdleTimeout", "session-idle-timeout"],
  );
  for (const field of ["key", "env", "flag"] as const) {
    const names = Object.values(settings).map((setting) => setting[field].toLowerCase());
    strictEqual(new Set(names).size, names.length);
  }
});

Deno.test("settings of a group have the group in their names [§16 names]", () => {
  const { key, env, flag } = settings.cardName;
  deepStrictEqual([key, env, flag], ["Card:Name", "A2A__Card__Name", "card-name"]);
  strictEqual(read({ file: file({ "Card:Name": "Bo" }) }).cardName.value, "Bo");
});

Deno.test("readConfig() takes flag over environment over file over default, and says which [§16 precedence]", () => {
  const flags = { "max-hops": "6" };
  const environment = { A2A__MaxHops: "5" };
  const sources = [{ flags, environment, file: file({ MaxHops: 4 }) }, { environment, file: file({ MaxHops: 4 }) }, {
    file: file({ MaxHops: 4 }),
  }, {}].map((each) => read(each).maxHops);
  deepStrictEqual(sources, [
    { value: 6, source: "flag", text: "6" },
    { value: 5, source: "environment", text: "5" },
    { value: 4, source: "file", text: "4" },
    { value: 3, source: "default", text: "3" },
  ]);
});

Deno.test("readConfig() compares environment names without case [§16 environment-case]", () => {
  strictEqual(read({ environment: { a2a__MAXHOPS: "9" } }).maxHops.value, 9);
});

Deno.test("readConfig() takes an empty variable as not set, and leaves other programs' variables alone", () => {
  const config = read({ environment: { A2A__MaxHops: "", PATH: "/bin", A2A_KEY_BOB: "k", A2AX__MaxHops: "1" } });
  strictEqual(config.maxHops.source, "default");
});

Deno.test("readConfig() reports all problems at once, of every source [§16 problems-at-once]", () => {
  deepStrictEqual(
    problems({
      flags: { "max-hops": "-1", "max-hop": "1" },
      environment: { A2A__Engine: "gpt", A2A__MaxFileByte: "1", A2AClient__Nothing: "x" },
      file: file({ Durability: "tape", Colour: "red", KeepFor: null }),
    }),
    [
      "Unknown setting --max-hop: did you mean --max-hops?",
      "Unknown setting A2A__MaxFileByte: did you mean A2A__MaxFileBytes?",
      'Unknown setting A2AClient__Nothing: see "volcanic-a2a config" for those there are',
      "Cannot read KeepFor in peer.json: expected a text, a number, true or false",
      'Unknown setting Colour: see "volcanic-a2a config" for those there are',
      'Cannot read A2A__Engine "gpt": expected one of faux, llm, acp, exec',
      'Cannot read --max-hops "-1": expected a whole number from 0 to 1000000000',
      'Cannot read Durability "tape": expected one of disk, process',
    ],
  );
});

Deno.test("readConfig() reports a bad value even where a stronger source wins", () => {
  strictEqual(problems({ flags: { "max-hops": "1" }, environment: { A2A__MaxHops: "many" } }).length, 1);
});

Deno.test("readConfig() reports two spellings of one variable that differ", () => {
  deepStrictEqual(problems({ environment: { A2A__MaxHops: "1", a2a__maxhops: "2" } }), [
    "Cannot choose between A2A__MaxHops and a2a__maxhops: they are one setting, remove one",
  ]);
  strictEqual(read({ environment: { A2A__MaxHops: "1", a2a__maxhops: "1" } }).maxHops.value, 1);
});

for (
  const [text, problem] of [
    ["{", "Cannot read peer.json: expected JSON"],
    ["[]", "Cannot read peer.json: expected an object of settings by name"],
    ["null", "Cannot read peer.json: expected an object of settings by name"],
  ] as const
) {
  Deno.test(`readConfig() reports a configuration file that is ${text}`, () => {
    deepStrictEqual(problems({ file: { path: "peer.json", text } }), [problem]);
  });
}

Deno.test("readConfig() cuts a long value in its problem", () => {
  ok(problems({ flags: { engine: "x".repeat(5000) } })[0]!.length < 200);
});

Deno.test("readEnvironment() reads the process's own variables of ours, and no others", async () => {
  // Another process, since tests run side by side in this one.
  const code = 'import { readEnvironment } from "@/config.ts"; console.log(JSON.stringify(readEnvironment()))';
  const env = { A2A__MaxHops: "8", a2aclient__Enabled: "false", A2A_KEY_BOB: "k_1", PATH: "/bin" };
  const { stdout, code: exit } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--config", "deno.json", code],
    env: { ...env, DENO_DIR: Deno.env.get("DENO_DIR") ?? "", HOME: Deno.env.get("HOME") ?? "" },
    clearEnv: true,
  }).output();
  strictEqual(exit, 0);
  deepStrictEqual(JSON.parse(new TextDecoder().decode(stdout)), { A2A__MaxHops: "8", a2aclient__Enabled: "false" });
});
