import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createFaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { takeLog } from "@tests/fakes/log_lines.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { parseCallerName } from "@/protocol/ids.ts";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { CallersFile, readCaller } from "./callers_file.ts";
import { createDisk } from "./disk.ts";
import { hashKey } from "./key_hash.ts";
import { Secret } from "./secret.ts";
import { WebhookKeys, webhookSecrets } from "./webhook_keys.ts";
import { workspacePaths } from "./workspace_paths.ts";

const master = "0123456789abcdef".repeat(4);

/** Made as the documents say, by other means than the code. */
function derived(name: string, from = master): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHmac("sha256", Uint8Array.fromHex(from)).update(`webhook ${name}`).digest());
}

function entry(json: unknown) {
  const caller = readCaller(json);
  if ("why" in caller) throw new Error(caller.why);
  return caller;
}

Deno.test("webhookSecrets() derives a secret of the workspace's and the hash of the key, as it always must [§5.7 signature]", async () => {
  const now = createTestClock().now();
  const made = async (json: unknown) =>
    (await webhookSecrets(entry(json), { master: new Secret(master), now })).secret.reveal();
  const golden = "whsec_JYjSQTO0nKamvcADecqM7ZVbo8gUwgByEKR/USSRgDY=";
  const hash = "sha256:025e0958e062f73dae1a54d6fc481ebc90bfa50d1908e98fab7f3062e24656d1";
  strictEqual(hashKey("k_alice"), hash);
  strictEqual(`whsec_${derived(hash).toBase64()}`, golden);
  strictEqual(await made({ name: "alice", key: "k_alice" }), golden);
  strictEqual(await made({ name: "other", keyHash: hash.replaceAll("e", "E") }), golden);
  const local = `whsec_${derived("workspace:garden").toBase64()}`;
  strictEqual(await made({ name: "sister", workspace: "garden" }), local);
});

Deno.test("webhookSecrets() gives the old secret beside the new one until the old key's end [§5.7 signature]", async () => {
  const clock = createTestClock();
  const caller = entry({
    ...{ name: "alice", keyHash: hashKey("new") },
    ...{ previousKeyHash: hashKey("old"), previousUntil: "2026-10-08T12:01:00.000Z" },
  });
  const made = () => webhookSecrets(caller, { master: new Secret(master), now: clock.now() });
  const secrets = async () => {
    const { secret, previous } = await made();
    return [secret.reveal(), previous?.secret.reveal(), previous?.until];
  };
  const [newest, old] = ["new", "old"].map((key) => `whsec_${derived(hashKey(key)).toBase64()}`);
  clock.jump(59_999);
  deepStrictEqual(await secrets(), [newest, old, clock.now() + 1]);
  ok(!Deno.inspect(await made()).includes("whsec_"));
  clock.jump(1);
  deepStrictEqual(await secrets(), [newest, undefined, undefined]);
});

const alice = parseCallerName("alice");
const body = new TextEncoder().encode("a body");

async function makeKeys(callers: unknown, secret?: string) {
  const folder = await makeTempFolder();
  const paths = workspacePaths(folder.path);
  await Deno.mkdir(paths.a2a, { recursive: true });
  const clock = createTestClock();
  const faulty = createFaultyDisk(createDisk(systemClock), clock);
  const opened: string[] = [];
  const disk = {
    ...faulty,
    openReadSync(path: string) {
      opened.push(path);
      return faulty.openReadSync(path);
    },
  };
  const write = (content: string) => Deno.writeTextFile(paths.webhookSecret, content);
  const writeCallers = (json: unknown) => Deno.writeTextFile(paths.callersFile, JSON.stringify(json));
  await writeCallers(callers);
  if (secret !== undefined) await write(`{"v":1,"secret":"${secret}"}`);
  const file = { disk, random: systemRandom, path: paths.webhookSecret, lock: paths.editLock };
  const keys = new WebhookKeys({
    ...file,
    clock,
    callers: new CallersFile({ disk, clock, path: paths.callersFile }),
  });
  /** What the keys of a caller sign, and whether they are those that come of these names. */
  const isSignedBy = async (names: readonly string[], { from = master, caller = alice } = {}) => {
    const signatures = (await keys.keysOf(caller) ?? []).map((key) => crypto.subtle.sign("HMAC", key, body));
    const found = (await Promise.all(signatures)).map((bytes) => new Uint8Array(bytes).toHex());
    const expected = names.map((name) => createHmac("sha256", derived(name, from)).update(body).digest("hex"));
    deepStrictEqual(found, expected);
  };
  return {
    ...{ keys, clock, disk, opened, path: paths.webhookSecret, write, writeCallers, isSignedBy },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

Deno.test("WebhookKeys.keysOf() gives keys by the callers file of now, newest first, that cannot be read out [§5.7 signature, §4 edits-hold-at-once]", async () => {
  await using made = await makeKeys([{ name: "alice", key: "one" }, { name: "sister", workspace: "garden" }], master);
  await made.isSignedBy([hashKey("one")]);
  await made.isSignedBy(["workspace:garden"], { caller: parseCallerName("@garden") });
  await made.isSignedBy([], { caller: parseCallerName("sister") });
  await made.isSignedBy([], { caller: parseCallerName("bob") });
  const [key] = (await made.keys.keysOf(alice))!;
  deepStrictEqual([key!.extractable, key!.usages, key!.algorithm.name], [false, ["sign"], "HMAC"]);
  strictEqual((await made.keys.keysOf(alice))![0], key);
  const previousUntil = "2026-10-08T12:01:00.000Z";
  await made.writeCallers([{ name: "alice", key: "two", previousKeyHash: hashKey("one"), previousUntil }]);
  await made.isSignedBy([hashKey("two"), hashKey("one")]);
  made.clock.jump(60_000);
  await made.isSignedBy([hashKey("two")]);
  const later = "2026-10-08T13:00:00.000Z";
  await made.writeCallers([{ name: "alice", key: "two", previousKeyHash: hashKey("two"), previousUntil: later }]);
  await made.isSignedBy([hashKey("two")]);
  await made.writeCallers([]);
  await made.isSignedBy([]);
});

Deno.test("WebhookKeys.keysOf() makes the secret when the first push needs it, once for many at once [§5.7 signature]", async () => {
  await using made = await makeKeys([{ name: "alice", key: "one" }]);
  await made.keys.keysOf(parseCallerName("bob"));
  strictEqual(made.disk.log.length, 0, "nothing is made for who is nobody");
  const all = await Promise.all(Array.from({ length: 5 }, () => made.keys.keysOf(alice)));
  deepStrictEqual(all.map((keys) => keys![0]), Array.from(all, () => all[0]![0]));
  ok(all[0]![0] !== undefined);
  strictEqual(made.disk.log.filter((line) => line.startsWith("lock ")).length, 1);
  const { secret } = JSON.parse(await Deno.readTextFile(made.path));
  await made.isSignedBy([hashKey("one")], { from: secret });
});

Deno.test("WebhookKeys.keysOf() reads an old file once, and what is put in its place at the next push", async () => {
  await using made = await makeKeys([{ name: "alice", key: "one" }], master);
  made.clock.jump(Date.now() + 60_000 - made.clock.now()); // long after the file was written
  for (const _ of [1, 2, 3]) await made.isSignedBy([hashKey("one")]);
  strictEqual(made.opened.filter((path) => path === made.path).length, 1);
  const other = "ff".repeat(32);
  await made.write(`{"v":1,"secret":"${other}","note":"another size"}`);
  await made.isSignedBy([hashKey("one")], { from: other });
});

Deno.test("WebhookKeys.keysOf() gives none while the secret is malformed, says so once a change without any of it, and never writes over it [§5.7 signature, §4 one-warning-a-change]", async () => {
  await using made = await makeKeys([{ name: "alice", key: "one" }], master);
  using log = takeLog("error");
  await made.isSignedBy([hashKey("one")]);
  for (const [content, lines] of [[`{"v":1,"secret":"${master}`, 1], [`{"secret":"${master}"}`, 2], ["", 3]] as const) {
    await made.write(content);
    for (const _ of [1, 2]) await made.isSignedBy([]);
    strictEqual(log.lines.length, lines);
    strictEqual(await Deno.readTextFile(made.path), content);
  }
  for (const line of log.lines) {
    ok(line.includes(made.path) && line.includes("restore it, or remove it"), line);
    ok(!line.includes(master.slice(0, 16)), line);
  }
  await made.write(`{"v":1,"secret":"${master}"}`);
  await made.isSignedBy([hashKey("one")]);
  await made.write("");
  await made.isSignedBy([]);
  strictEqual(log.lines.length, 4);
});

Deno.test("WebhookKeys.keysOf() gives none while the secret cannot be made, says so once, and tries again [§5.7 signature]", async () => {
  await using made = await makeKeys([{ name: "alice", key: "one" }]);
  using log = takeLog("error");
  const full = made.disk.rule({ on: "flush", code: "ENOSPC" });
  for (const _ of [1, 2]) await made.isSignedBy([]);
  strictEqual(log.lines.length, 1);
  ok(log.lines[0]!.includes("ENOSPC") && log.lines[0]!.includes("tried again"), log.lines[0]);
  full.end();
  strictEqual((await made.keys.keysOf(alice))!.length, 1);
  strictEqual(log.lines.length, 1);
  await Deno.remove(made.path);
  made.disk.rule({ on: "flush", code: "ENOSPC" });
  await made.isSignedBy([]);
  strictEqual(log.lines.length, 2);
});

Deno.test("WebhookKeys keeps a bounded number of keys, and makes again what it forgot", async () => {
  await using made = await makeKeys([], master);
  const keysOf = async (count: number) => {
    await made.writeCallers([{ name: "alice", key: `key ${count}` }]);
    return (await made.keys.keysOf(alice))!;
  };
  const first = await keysOf(0);
  const callers = Array.from({ length: 1000 }, (_, index) => ({ name: `c${index}`, key: `k${index}` }));
  for (const generation of ["a", "b", "c"]) {
    await made.writeCallers(callers.map(({ name, key }) => ({ name, key: `${key}${generation}` })));
    await Promise.all(callers.map(({ name }) => made.keys.keysOf(parseCallerName(name))));
  }
  const again = await keysOf(0);
  ok(first[0] !== undefined && again[0] !== undefined && first[0] !== again[0]);
  await made.isSignedBy([hashKey("key 0")]);
});
