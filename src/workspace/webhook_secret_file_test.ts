import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { dirname, join } from "node:path";
import { createCrashingDisk, type LeftBehind, restore } from "@tests/fakes/crashing_disk.ts";
import { createFaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk, type Disk } from "./disk.ts";
import { sweepLeftFiles } from "./left_files.ts";
import { requireWebhookSecret, type WebhookSecretFile } from "./webhook_secret_file.ts";
import { workspacePaths } from "./workspace_paths.ts";

/** Each has turns of its own at the locks, as a process has. */
function fileOf(root: string, disk: Disk = createDisk(systemClock)): WebhookSecretFile {
  const { webhookSecret, editLock } = workspacePaths(root);
  return { disk, random: systemRandom, path: webhookSecret, lock: editLock };
}

async function reveal(file: WebhookSecretFile): Promise<string> {
  const read = await requireWebhookSecret(file);
  ok(read.kind === "master", read.kind);
  return read.master.reveal();
}

Deno.test("requireWebhookSecret() makes what is missing, mode 0600, and gives the same ever after [§5.7 signature, §4 key-files-private]", async () => {
  await using folder = await makeTempFolder();
  const file = fileOf(folder.path);
  const secret = await reveal(file);
  match(secret, /^[0-9a-f]{64}$/);
  strictEqual(file.path, `${folder.path}/.volcanic/a2a/webhook.secret`);
  strictEqual(await Deno.readTextFile(file.path), `{"v":1,"secret":"${secret}"}\n`);
  strictEqual((await Deno.stat(file.path)).mode! & 0o777, 0o600);
  strictEqual(await reveal(fileOf(folder.path)), secret);
});

Deno.test({
  name:
    "requireWebhookSecret() as root gives what it makes to the owner of the folder [§4 files-belong-to-folder, DM0 write-A]",
  ignore: Deno.build.os === "windows" || Deno.uid() !== 0,
  fn: async () => {
    await using folder = await makeTempFolder();
    await Deno.chown(folder.path, 1234, 2345);
    const file = fileOf(folder.path);
    await reveal(file);
    for (const path of [file.path, file.lock]) {
      const { uid, gid } = await Deno.stat(path);
      deepStrictEqual([uid, gid], [1234, 2345], path);
    }
  },
});

Deno.test("requireWebhookSecret() of several processes at once makes one secret for all [§4 shared-files-locked]", async () => {
  await using folder = await makeTempFolder();
  const gate = Promise.withResolvers<void>();
  const slow = createFaultyDisk(createDisk(systemClock));
  slow.rule({ on: "flush", until: gate.promise });
  const first = reveal(fileOf(folder.path, slow));
  while (!slow.log.some((line) => line.startsWith("flush "))) await Deno.stat(folder.path);
  const other = createFaultyDisk(createDisk(systemClock)); // it finds nothing, and must wait
  const second = reveal(fileOf(folder.path, other));
  while (!other.log.some((line) => line.startsWith("lock "))) await Deno.stat(folder.path);
  gate.resolve();
  strictEqual(await second, await first);
  strictEqual(JSON.parse(await Deno.readTextFile(fileOf(folder.path).path)).secret, await first);
});

Deno.test("requireWebhookSecret() killed or without power at any point leaves none or a whole one, and a secret it gave stays [§4 atomic-writes, DM0 tmp-removed]", async () => {
  await using folder = await makeTempFolder();
  const root = dirname(fileOf(folder.path).path);
  await Deno.mkdir(root, { recursive: true });
  const moments: LeftBehind[] = [];
  const look = () => moments.push(disk.left("kill"), disk.left("power"));
  const disk = createCrashingDisk(createDisk(systemClock), { root, beforeChange: look });
  const given = await reveal(fileOf(folder.path, disk));
  const after = disk.left("power");
  ok(moments.length >= 10, `${moments.length}`);
  for (const [index, left] of [...moments, after].entries()) {
    await using next = await makeTempFolder();
    const paths = workspacePaths(next.path);
    await restore(left, paths.a2a);
    await sweepLeftFiles(createDisk(systemClock), paths);
    const isThere = left.has("webhook.secret");
    const secret = await reveal(fileOf(next.path));
    deepStrictEqual([isThere, secret === given], [isThere, isThere], `moment ${index}`);
    const names = [...Deno.readDirSync(paths.a2a)].map(({ name }) => name).filter((name) => name !== "edit.lock");
    deepStrictEqual(names, ["webhook.secret"]);
  }
  ok(after.has("webhook.secret"));
});

const master = "ab".repeat(32);

const unusable: readonly { readonly name: string; readonly content: string; readonly why: RegExp }[] = [
  { name: "empty", content: "", why: /^it is empty$/ },
  { name: "cut", content: `{"v":1,"secret":"${master}`, why: /no JSON object/ },
  { name: "an array", content: `["${master}"]`, why: /no JSON object/ },
  { name: "of no version", content: `{"secret":"${master}"}`, why: /does not have "v" 1/ },
  { name: "of a newer version", content: `{"v":2,"secret":"${master}"}`, why: /^a newer version wrote it$/ },
  { name: "without a secret", content: '{"v":1}', why: /"secret" of 64 hex digits/ },
  { name: "too short", content: `{"v":1,"secret":"${master.slice(1)}"}`, why: /"secret" of 64 hex digits/ },
  { name: "too large", content: `{"v":1,"secret":"${master}"}`.padEnd(4097), why: /larger than 4096 bytes/ },
];

for (const { name, content, why } of unusable) {
  Deno.test(`requireWebhookSecret() finds a file that is ${name} unusable, tells nothing of it, and leaves it as it is [§5.7 signature]`, async () => {
    await using folder = await makeTempFolder();
    const file = fileOf(folder.path);
    await Deno.mkdir(dirname(file.path), { recursive: true });
    await Deno.writeTextFile(file.path, content);
    const read = await requireWebhookSecret(file);
    ok(read.kind === "unusable");
    match(read.why, why);
    ok(!JSON.stringify(read).includes("abab"));
    strictEqual(await Deno.readTextFile(file.path), content);
  });
}

Deno.test("requireWebhookSecret() reads through a link of the owner's, and makes none in the place of one that leads nowhere", async () => {
  await using folder = await makeTempFolder();
  const file = fileOf(folder.path);
  await Deno.mkdir(dirname(file.path), { recursive: true });
  const elsewhere = join(folder.path, "mounted");
  await Deno.symlink(elsewhere, file.path);
  deepStrictEqual((await requireWebhookSecret(file)).kind, "unusable");
  ok((await Deno.lstat(file.path)).isSymlink);
  await Deno.writeTextFile(elsewhere, `{"v":1,"secret":"${master.toUpperCase()}","note":"mine"}`);
  strictEqual(await reveal(file), master);
});

Deno.test("requireWebhookSecret() finds a folder in the place of the file unusable [§4 odd-files-refused]", async () => {
  await using folder = await makeTempFolder();
  const file = fileOf(folder.path);
  await Deno.mkdir(file.path, { recursive: true });
  const read = await requireWebhookSecret(file);
  ok(read.kind === "unusable" && read.why === "it is not a regular file");
});

Deno.test("requireWebhookSecret() on a full disk rejects, leaves nothing, and succeeds later [DM0 write-A]", async () => {
  await using folder = await makeTempFolder();
  const disk = createFaultyDisk(createDisk(systemClock));
  const full = disk.rule({ on: "flush", code: "ENOSPC" });
  const file = fileOf(folder.path, disk);
  await rejects(requireWebhookSecret(file), { code: "ENOSPC" });
  deepStrictEqual([...Deno.readDirSync(dirname(file.path))].map(({ name }) => name), ["edit.lock"]);
  full.end();
  match(await reveal(file), /^[0-9a-f]{64}$/);
});
