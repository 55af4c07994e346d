import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { createHmac } from "node:crypto";
import { makeCallersWorkspace } from "@tests/fakes/callers_workspace.ts";
import { hashKey } from "@/workspace/key_hash.ts";

/** The secret that the documents say comes of `name`, from what is in the file. */
function derived(file: string, name: string): string {
  const { v, secret } = JSON.parse(file);
  strictEqual(v, 1);
  return `whsec_${createHmac("sha256", Uint8Array.fromHex(secret)).update(`webhook ${name}`).digest("base64")}`;
}

Deno.test("callers secret prints the secret alone, makes the workspace's own once and private, and no caller's is in a file [§3 callers-secret, §5.7 signature]", async () => {
  await using workspace = await makeCallersWorkspace(
    '[{"name":"bot","key":"k_a"},{"name":"near","workspace":"garden"}]',
  );
  const path = `${workspace.a2a}/webhook.secret`;
  const shown = await workspace.callers("secret", "bot");
  deepStrictEqual([shown.code, shown.error], [0, ""]);
  const file = await Deno.readTextFile(path);
  strictEqual(shown.out, `${derived(file, hashKey("k_a"))}\n`);
  strictEqual((await Deno.stat(path)).mode! & 0o777, 0o600);
  const json = JSON.parse((await workspace.callers("secret", "near", "--json")).out);
  deepStrictEqual(json, { name: "near", secret: derived(file, "workspace:garden"), previous: null });
  strictEqual(await Deno.readTextFile(path), file);
  deepStrictEqual(await workspace.json(), [{ name: "bot", key: "k_a" }, { name: "near", workspace: "garden" }]);
});

Deno.test("callers secret of a rotated key gives the new secret and, while the old key works, the old one too [§3 callers-secret, §5.7 signature]", async () => {
  await using workspace = await makeCallersWorkspace('[{"name":"bot","key":"k_a"}]');
  const json = async () => JSON.parse((await workspace.callers("secret", "bot", "--json")).out);
  const first = await json();
  await workspace.callers("rotate", "bot", "--overlap", "1h");
  const [{ keyHash, previousUntil }] = await workspace.json();
  const second = await json();
  const file = await Deno.readTextFile(`${workspace.a2a}/webhook.secret`);
  deepStrictEqual(second, {
    ...{ name: "bot", secret: derived(file, keyHash) },
    previous: { secret: first.secret, until: previousUntil },
  });
  await workspace.callers("rotate", "bot");
  const third = await json();
  deepStrictEqual([third.previous, third.secret === second.secret], [null, false]);
  await workspace.callers("remove", "bot");
  await workspace.callers("add", "bot");
  ok(![first.secret, second.secret, third.secret].includes((await json()).secret));
});

Deno.test("callers secret by several processes at once makes one secret of the workspace [§3 callers-secret, §4 shared-files-locked]", async () => {
  await using workspace = await makeCallersWorkspace('[{"name":"bot","key":"k_a"}]');
  const shown = await Promise.all(Array.from({ length: 4 }, () => workspace.callers("secret", "bot")));
  const secret = derived(await Deno.readTextFile(`${workspace.a2a}/webhook.secret`), hashKey("k_a"));
  for (const one of shown) deepStrictEqual(one, { code: 0, out: `${secret}\n`, error: "" });
});

Deno.test("callers secret refuses a malformed webhook.secret in one line without a word of it, and leaves it as it is [§3 callers-refusals, §5.7 signature]", async () => {
  await using workspace = await makeCallersWorkspace('[{"name":"bot","key":"k_a"}]');
  const path = `${workspace.a2a}/webhook.secret`;
  const content = `{"v":1,"secret":"${"ab".repeat(31)}"}`;
  await Deno.writeTextFile(path, content);
  const { code, out, error } = await workspace.callers("secret", "bot");
  deepStrictEqual([code, out], [2, ""]);
  match(error, /^Cannot use \/.*\/webhook\.secret: it does not have .*; restore it, or remove it: .* change\n$/);
  ok(!error.includes("abab"));
  strictEqual(await Deno.readTextFile(path), content);
});

Deno.test("callers --help names the command [§3 callers-secret]", async () => {
  await using workspace = await makeCallersWorkspace("[]");
  const { out } = await workspace.callers("--help");
  match(out, /\n {2}secret +Prints the secret that pushes to a caller's webhooks are signed with\n/);
});
