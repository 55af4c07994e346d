import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { hashKey } from "@/workspace/key_hash.ts";
import { holdHostLock } from "@/workspace/file_lock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { systemClock } from "@/time/clock.ts";
import { makeCallersWorkspace } from "@tests/fakes/callers_workspace.ts";

const keyShape = /^k_[0-9a-f]{64}$/;

Deno.test("callers add prints the key alone and once, and stores its hash and last four characters [§3 callers-add]", async () => {
  await using workspace = await makeCallersWorkspace();
  const added = await workspace.callers("add", "bot", "--note", "for trips", "--access", "write");
  deepStrictEqual({ code: added.code, error: added.error }, { code: 0, error: "" });
  const key = added.out.trimEnd();
  ok(keyShape.test(key) && added.out === `${key}\n`);
  deepStrictEqual(await workspace.json(), [
    { name: "bot", note: "for trips", access: "write", keyHash: hashKey(key), keyHint: key.slice(-4) },
  ]);
  strictEqual((await Deno.stat(workspace.path)).mode! & 0o777, 0o600);
  const listed = await workspace.callers();
  ok(!(listed.out + listed.error).includes(key));
});

Deno.test("callers add prints JSON, and takes an expiry from now or as a time [§3 callers-add]", async () => {
  await using workspace = await makeCallersWorkspace();
  const before = Date.now();
  const added = JSON.parse((await workspace.callers("add", "a", "--expires", "1h", "--json")).out);
  ok(keyShape.test(added.key));
  deepStrictEqual(added, { name: "a", key: added.key, keyHint: added.key.slice(-4) });
  await workspace.callers("add", "b", "--expires", "2999-01-31T12:00:00+01:00");
  const [a, b] = await workspace.json();
  const aheadMs = Date.parse(a.expires) - before;
  ok(aheadMs >= 3_600_000 && aheadMs < 3_660_000);
  strictEqual(b.expires, "2999-01-31T11:00:00.000Z");
});

Deno.test("callers rotate prints a new key; the old one works for the overlap [§3 callers-rotate]", async () => {
  await using workspace = await makeCallersWorkspace('[{"name":"bot","key":"k_old","note":"n","custom":1}]');
  const before = Date.now();
  const first = await workspace.callers("rotate", "bot", "--overlap", "1h");
  const key = first.out.trimEnd();
  ok(keyShape.test(key));
  const [entry] = await workspace.json();
  const { previousUntil, ...rest } = entry;
  deepStrictEqual(rest, {
    ...{ name: "bot", note: "n", custom: 1, keyHash: hashKey(key), keyHint: key.slice(-4) },
    previousKeyHash: hashKey("k_old"),
  });
  const overlapMs = Date.parse(previousUntil) - before;
  ok(overlapMs >= 3_600_000 && overlapMs < 3_660_000);
  ok((await workspace.callers("list")).out.includes(`old key until ${previousUntil}`));
  const second = await workspace.callers("rotate", "bot");
  strictEqual(second.code, 0);
  strictEqual("previousKeyHash" in (await workspace.json())[0], false);
});

Deno.test("callers remove shuts a caller out and keeps the others [§3 callers-remove]", async () => {
  await using workspace = await makeCallersWorkspace('[{"name":"a","key":"1"},{"name":"b","key":"2","custom":true}]');
  deepStrictEqual(await workspace.callers("remove", "a"), { code: 0, out: "Removed a\n", error: "" });
  deepStrictEqual(await workspace.json(), [{ name: "b", key: "2", custom: true }]);
});

const entries = [
  { name: "bot", key: "k_secret_in_clear_1234", note: "two\nlines", expires: "2001-01-01T00:00:00Z" },
  {
    name: "partner",
    keyHash: `sha256:${"a".repeat(64)}`,
    access: "write",
    network: true,
    expires: "2999-01-01T00:00Z",
  },
  { name: "sister", workspace: "garden", mayDelegate: true, limits: { contexts: 3, diskBytes: 4 } },
  { name: "odd", key: "k_secret_in_clear_5678", access: "all" },
];

Deno.test("callers list shows who may call and the end of a key, never a key, and names what it cannot read [§3 callers-list, §3 callers-secret]", async () => {
  await using workspace = await makeCallersWorkspace(JSON.stringify(entries));
  const { code, out, error } = await workspace.callers("list");
  strictEqual(code, 0);
  deepStrictEqual(out.split("\n"), [
    "bot      …1234    read   expired 2001-01-01T00:00:00.000Z  two lines",
    "partner  key      write  expires 2999-01-01T00:00:00.000Z",
    "sister   @garden  read   never expires",
    `Pushes are signed; a caller's secret: deno task start callers secret NAME --workspace ${workspace.root}`,
    "",
  ]);
  const cure = "change or remove it";
  const yet = `which this version does not act on yet; ${cure}`;
  deepStrictEqual(error.split("\n"), [
    `Skipped entry 4 "odd" of ${workspace.path}: "access" must be "read" or "write"; ${cure}`,
    `Entry "sister" of ${workspace.path} sets mayDelegate, ${yet}`,
    "",
  ]);
  strictEqual((out + error).includes("k_secret"), false);
});

Deno.test("callers list --json has every field but keys [§3 callers-list]", async () => {
  await using workspace = await makeCallersWorkspace(JSON.stringify(entries));
  const { out } = await workspace.callers("list", "--json");
  const { callers, skipped } = JSON.parse(out);
  deepStrictEqual(callers[1], {
    ...{ name: "partner", workspace: null, keyHint: null, access: "write", network: true, mayDelegate: false },
    ...{ expires: "2999-01-01T00:00:00.000Z", previousUntil: null, note: null, limits: {} },
  });
  deepStrictEqual([callers.length, callers[2].workspace, callers[2].limits], [3, "garden", {
    contexts: 3,
    diskBytes: 4,
  }]);
  deepStrictEqual(skipped, [{ number: 4, name: "odd", why: '"access" must be "read" or "write"' }]);
  strictEqual(out.includes("k_secret"), false);
});

Deno.test("callers list of a workspace without callers says how to let one in, and makes no file [§3 callers-list]", async () => {
  await using workspace = await makeCallersWorkspace();
  const out = `No callers; let one in with: deno task start callers add NAME --workspace ${workspace.root}\n`;
  deepStrictEqual(await workspace.callers(), { code: 0, out, error: "" });
  deepStrictEqual([...Deno.readDirSync(workspace.root)], []);
});

const refusals: readonly {
  readonly name: string;
  readonly args: readonly string[];
  readonly says: RegExp;
  readonly content?: string;
}[] = [
  { name: "a taken name", args: ["add", "a"], says: /^Cannot add caller "a": the name is taken; choose another, or/ },
  { name: "a bad name", args: ["add", "No Good"], says: /^Cannot add a caller: "name" must be 1 to 40 of a-z/ },
  { name: "a reserved name", args: ["add", "host"], says: /^Cannot add a caller: its name is reserved; give it/ },
  { name: "a note too long", args: ["add", "x", "--note", "n".repeat(501)], says: /"note" must be .* at most 500/ },
  { name: "an unknown access", args: ["add", "x", "--access", "all"], says: /--access.*"read" and "write"/ },
  { name: "a year as an expiry", args: ["add", "x", "--expires", "2030"], says: /^Cannot use "2030" .* like 30d$/ },
  { name: "an expiry in the past", args: ["add", "x", "--expires", "2001-01-01T00:00Z"], says: /over already; give/ },
  { name: "an overlap that is none", args: ["rotate", "a", "--overlap", "soon"], says: /^Cannot use "soon" as --over/ },
  { name: "nobody to rotate", args: ["rotate", "x"], says: /there is no such caller; `callers list` shows the names/ },
  { name: "nobody to remove", args: ["remove", "x"], says: /there is no such caller; `callers list` shows the names/ },
  { name: "nobody to show a secret of", args: ["secret", "x"], says: /no such caller; `callers list` shows the names/ },
  {
    name: "the secret of a bad entry",
    args: ["secret", "a"],
    says: /^Cannot show the secret of "a": its entry .* is bad: "access" must be .*; repair it$/,
    content: '[{"name":"a","key":"k_a","access":"all"}]',
  },
  { name: "a name that is missing", args: ["add"], says: /NAME|argument/ },
  { name: "a malformed file to add to", args: ["add", "x"], says: /repair the file first$/, content: "{}" },
  { name: "a malformed file to list", args: ["list"], says: /^Cannot read .* until it is repaired$/, content: "[" },
  { name: "a malformed file to look in", args: ["secret", "a"], says: /^Cannot read .* is repaired$/, content: "[" },
];

for (const { name, args, says, content = '[{"name":"a","key":"k_a"}]' } of refusals) {
  Deno.test(`callers refuses ${name} in one line with exit code 2, and changes nothing [§3 callers-refusals]`, async () => {
    await using workspace = await makeCallersWorkspace(content);
    const { code, out, error } = await workspace.callers(...args);
    deepStrictEqual({ code, out }, { code: 2, out: "" });
    ok(says.test(error.trimEnd()) && error.indexOf("\n") === error.length - 1, error);
    strictEqual(await Deno.readTextFile(workspace.path), content);
    strictEqual([...Deno.readDirSync(workspace.a2a)].some(({ name }) => name === "webhook.secret"), false);
  });
}

Deno.test("callers leaves a folder of a newer format alone [§4 newer-format, §3 callers-refusals]", async () => {
  await using workspace = await makeCallersWorkspace("[]");
  await Deno.writeTextFile(`${workspace.a2a}/host.json`, JSON.stringify({ v: 1, format: 2 }));
  const { code, error } = await workspace.callers("add", "bot");
  strictEqual(code, 2);
  ok(error.includes("it has format 2, written by a newer version; update this one"));
  deepStrictEqual(await workspace.json(), []);
});

Deno.test("callers edits beside a running host, and edits at once all hold [§3 callers-beside-host, DM0 locks]", async () => {
  await using workspace = await makeCallersWorkspace("[]");
  using host = await holdHostLock(createDisk(systemClock), `${workspace.a2a}/host.lock`);
  ok(host?.holds());
  const names = ["a", "b", "c", "d"];
  const added = await Promise.all(names.map((name) => workspace.callers("add", name)));
  deepStrictEqual(added.map(({ code }) => code), [0, 0, 0, 0]);
  strictEqual(new Set(added.map(({ out }) => out)).size, 4);
  deepStrictEqual((await workspace.json()).map(({ name }: { name: string }) => name).sort(), names);
});
