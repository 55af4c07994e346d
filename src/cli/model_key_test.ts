import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { readConfig } from "@/config.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { findModelKey } from "./model_key.ts";

interface Setting {
  readonly flags?: Readonly<Record<string, string>>;
  readonly variables?: Readonly<Record<string, string>>;
}

function find(reference: string, { flags = { model: "anthropic:x" }, variables = {} }: Setting = {}) {
  const read = readConfig({ flags });
  if (read.kind !== "config") throw new Error(read.problems.join());
  const readVariable = (name: string) => variables[name];
  return findModelKey(reference, { config: read.config, disk: createDisk(systemClock), readVariable });
}

const notAllowed = { kind: "refused", why: "Cannot look up a key for the host: it is not its model's" };
const secret = (value: string) => ({ kind: "secret", value });

const keys = {
  ANTHROPIC_API_KEY: "sk-a",
  OPENAI_API_KEY: "sk-o",
  GOOGLE_GENERATIVE_AI_API_KEY: "g-1",
  GEMINI_API_KEY: "g-2",
  AWS_SECRET_ACCESS_KEY: "aws",
  A2A__ModelKey: "m",
};

for (
  const { model, references } of [
    { model: "anthropic:x", references: { "env:ANTHROPIC_API_KEY": "sk-a" } },
    { model: "openai:x", references: { "env:OPENAI_API_KEY": "sk-o" } },
    { model: "google:x", references: { "env:GOOGLE_GENERATIVE_AI_API_KEY": "g-1", "env:GEMINI_API_KEY": "g-2" } },
    { model: "openai-compatible:x", references: {} },
  ] as const
) {
  Deno.test(`findModelKey() gives the host of ${model} the keys of its provider and nothing else [§8 llm-key, §4 typed-requests]`, () => {
    const given: Readonly<Record<string, string | undefined>> = references;
    for (const name of Object.keys(keys)) {
      const reference = `env:${name}`;
      const value = given[reference];
      const answer = find(reference, { flags: { model }, variables: keys });
      deepStrictEqual(answer, value === undefined ? notAllowed : secret(value));
    }
    for (const reference of Object.keys(references)) {
      deepStrictEqual(find(reference, { flags: { model } }), { kind: "absent" });
    }
  });
}

Deno.test("findModelKey() refuses every other reference, and all without a model [§8 llm-key, §4 typed-requests]", () => {
  for (
    const reference of ["", "env:", "file:/etc/passwd", "file:key", "setting:Listen", "ANTHROPIC_API_KEY", "env:PATH"]
  ) {
    deepStrictEqual(find(reference, { variables: { ...keys, PATH: "/bin" } }), notAllowed);
  }
  deepStrictEqual(find("env:ANTHROPIC_API_KEY", { flags: {}, variables: keys }), notAllowed);
  deepStrictEqual(find("setting:ModelKey", { flags: { "model-key": "sk-m" } }), notAllowed);
});

Deno.test("findModelKey() gives ModelKey as it is set, and says when it is no key [§8 llm-key]", () => {
  const set = (key: string) => find("setting:ModelKey", { flags: { model: "anthropic:x", "model-key": key } });
  deepStrictEqual(find("setting:ModelKey"), { kind: "absent" });
  deepStrictEqual(set("sk-m"), secret("sk-m"));
  deepStrictEqual(set("two words"), {
    kind: "refused",
    why: "Cannot use the key in ModelKey: expected one word of printable characters",
  });
});

Deno.test("findModelKey() reads a file of the service manager's credentials, and no other [§8 llm-key]", async () => {
  await using temp = await makeTempFolder();
  const folder = `${temp.path}/credentials`;
  await Deno.mkdir(folder);
  await Deno.writeTextFile(`${folder}/model-key`, "sk-file\n");
  await Deno.writeTextFile(`${folder}/large`, "x".repeat(10_000));
  await Deno.writeTextFile(`${temp.path}/outside`, "sk-outside");
  await Deno.symlink(`${temp.path}/outside`, `${folder}/link`);
  const set = (key: string, variables: Readonly<Record<string, string>> = { CREDENTIALS_DIRECTORY: folder }) =>
    find("setting:ModelKey", { flags: { model: "anthropic:x", "model-key": key }, variables });
  deepStrictEqual(set("file:model-key"), secret("sk-file"));
  for (const name of ["../outside", "/etc/passwd", "..", "", "none", "link", "large", "a/b"]) {
    const answer = set(`file:${name}`);
    strictEqual(answer.kind, "refused");
    ok(answer.kind === "refused" && /^Cannot read the file of ModelKey: /.test(answer.why), JSON.stringify(answer));
  }
  deepStrictEqual(set("file:model-key", {}), {
    kind: "refused",
    why: "Cannot read the file of ModelKey: there is no $CREDENTIALS_DIRECTORY; the service manager sets it",
  });
});
