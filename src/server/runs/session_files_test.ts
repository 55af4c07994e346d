import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { makeCallerFiles, settingBytesMax } from "@tests/fakes/caller_files.ts";
import { createFaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { lookLimits } from "./session_files.ts";

const workspace = {
  "README.md": "# Hi\nthere\n",
  "docs/a.md": "a\r\nb\r\n",
  "work/alice/own.txt": "mine",
  "inbox/alice/t/in.pem": "hers",
  "work/bob/b.txt": "SECRET",
  "inbox/a2a/t/a.txt": "SECRET",
  ".volcanic/a2a/callers.json": "SECRET",
  ".env": "SECRET",
  ".git/config": "SECRET",
  ".git/HEAD": "ref: main",
  "private/plan.md": "SECRET",
  "AGENTS.md": "Be kind.",
};
const hide = ["/private"];

const noSuch = "there is no such file, or it is hidden";
const onlyOwn = "in this session only files below work/alice/ may be changed";
const steers = "it is what the owner's tools obey or what a caller sent, so it may not be changed from here";

const hidden = [
  ...[".volcanic/a2a/callers.json", ".env", ".git/config", "private/plan.md", "work/bob/b.txt", "inbox/a2a/t/a.txt"],
  ...["docs/../.env", "./.volcanic/a2a/callers.json", "README.md/../inbox/a2a/t/a.txt"],
];

for (const access of ["read", "write"] as const) {
  for (const path of hidden) {
    Deno.test(`CallerFiles with access ${access} know nothing of ${path} [§6 hidden, §6 file-tools]`, async () => {
      await using setting = await makeCallerFiles(workspace, { access, hide });
      const { files } = setting;
      const shown = path.replace(/^.*\.\.\/|^\.\//, "");
      const refused = (verb: string) => ({ kind: "refused", why: `Cannot ${verb} "${shown}": ${noSuch}` });
      deepStrictEqual(await files.read(path), refused("read"));
      deepStrictEqual(await files.write(path, "FORGED"), refused("write"));
      deepStrictEqual(await files.edit(path, { old: "SECRET", new: "FORGED" }), refused("edit"));
      deepStrictEqual(await files.list(path), refused("list"));
      deepStrictEqual(await files.search({ pattern: "SECRET", path }, new AbortController().signal), refused("search"));
      strictEqual(await setting.textOf(shown), "SECRET");
    });
  }

  Deno.test(`CallerFiles with access ${access} list and search without what is hidden [§6 hidden, §6 file-tools]`, async () => {
    await using setting = await makeCallerFiles(workspace, { access, hide });
    const { files } = setting;
    const names = ["docs/", "inbox/", "work/"];
    const entries = (names: readonly string[]) => ({ kind: "entries", names, isCut: false });
    deepStrictEqual(await files.list(""), entries([".git/", "AGENTS.md", "README.md", ...names]));
    deepStrictEqual(await files.list("/workspace"), entries([".git/", "AGENTS.md", "README.md", ...names]));
    deepStrictEqual(await files.list(".git"), entries(["HEAD"]));
    deepStrictEqual(await files.list("work"), entries(["alice/"]));
    deepStrictEqual(await files.list("inbox"), entries(["alice/"]));
    deepStrictEqual(await files.list("inbox/alice/t"), entries(["in.pem"]));
    const { signal } = new AbortController();
    deepStrictEqual(await files.search({ pattern: "SECRET", path: "" }, signal), {
      kind: "found",
      matches: [],
      isCut: false,
    });
    const matches = [{ path: "inbox/alice/t/in.pem", line: 1, text: "hers" }, {
      path: "README.md",
      line: 2,
      text: "there",
    }];
    deepStrictEqual(await files.search({ pattern: "he", path: "" }, signal), {
      kind: "found",
      matches: matches.reverse(),
      isCut: false,
    });
  });
}

const writes: readonly { path: string; read: string | "done"; write: string | "done" }[] = [
  { path: "work/alice/new/a.txt", read: "done", write: "done" },
  { path: "work/alice/own.txt", read: "done", write: "done" },
  { path: "work/alice/.git/config", read: "done", write: "done" },
  { path: "inbox/alice/t/note.md", read: onlyOwn, write: steers },
  { path: "README.md", read: onlyOwn, write: "done" },
  { path: "docs/new/deep/a.md", read: onlyOwn, write: "done" },
  { path: "package.json", read: onlyOwn, write: "done" },
  { path: "AGENTS.md", read: onlyOwn, write: steers },
  { path: "docs/CLAUDE.md", read: onlyOwn, write: steers },
  { path: ".git/HEAD", read: onlyOwn, write: steers },
  { path: ".git/hooks/pre-commit", read: onlyOwn, write: steers },
  { path: ".claude/settings.json", read: onlyOwn, write: steers },
  { path: "skills/one/SKILL.md", read: onlyOwn, write: steers },
  { path: "work", read: onlyOwn, write: steers },
  { path: "", read: onlyOwn, write: "it is a folder" },
  { path: "docs", read: onlyOwn, write: "it is not a regular file" },
  { path: "work/alice", read: "it is not a regular file", write: "it is not a regular file" },
];

for (const { path, ...says } of writes) {
  for (const access of ["read", "write"] as const) {
    const does = says[access] === "done" ? "write" : "do not write";
    Deno.test(`CallerFiles with access ${access} ${does} ${JSON.stringify(path)} [§6 own-folders, §6 write-access, §6 control-paths]`, async () => {
      await using setting = await makeCallerFiles(workspace, { access, hide });
      const written = await setting.files.write(path, "new text");
      if (says[access] === "done") {
        deepStrictEqual(written, { kind: "done" });
        strictEqual(await setting.textOf(path), "new text");
      } else {
        const shown = path === "" ? "the workspace" : `"${path}"`;
        deepStrictEqual(written, { kind: "refused", why: `Cannot write ${shown}: ${says[access]}` });
        strictEqual(await setting.textOf("AGENTS.md"), workspace["AGENTS.md"]);
      }
    });
  }
}

Deno.test("CallerFiles name no path of the machine in a refusal, and take a path in the box for one of the workspace [§6 file-tools]", async () => {
  await using setting = await makeCallerFiles(workspace);
  const { files, root } = setting;
  for (const path of ["/etc/passwd", "../x", `${root}2/x`, "/workspace/../etc/passwd"]) {
    deepStrictEqual(await files.read(path), {
      kind: "refused",
      why: "Cannot read that path: it is outside of the workspace",
    });
  }
  deepStrictEqual(await files.read(`${root}/none.md`), { kind: "refused", why: `Cannot read "none.md": ${noSuch}` });
  deepStrictEqual(await files.read("a\u001b[2Jb"), { kind: "refused", why: `Cannot read "a[2Jb": ${noSuch}` });
  deepStrictEqual(await files.read("a\0b"), { kind: "refused", why: 'Cannot read "ab": it is no path' });
  const text = { kind: "text", text: "# Hi\nthere", from: 1, lines: 2, isCut: false };
  for (const path of [`${root}/README.md`, "/workspace/README.md", "./docs/../README.md"]) {
    deepStrictEqual(await files.read(path), text);
  }
});

Deno.test("CallerFiles.read() gives lines by range, cuts what is long, and says how many there are [§6 file-tools]", async () => {
  const many = Array.from({ length: 3000 }, (_, index) => `line ${index + 1}`);
  await using setting = await makeCallerFiles({
    "many.txt": many.join("\n"),
    "empty.txt": "",
    "wide.txt": "x".repeat(3000),
  });
  const { files } = setting;
  const whole = await files.read("many.txt");
  ok(whole.kind === "text");
  deepStrictEqual([whole.text, whole.lines, whole.isCut], [many.slice(0, lookLimits.lines).join("\n"), 3000, true]);
  deepStrictEqual(await files.read("many.txt", { from: 2999, count: 100 }), {
    ...{ kind: "text", text: "line 2999\nline 3000", from: 2999, lines: 3000, isCut: false },
  });
  deepStrictEqual(await files.read("empty.txt"), { kind: "text", text: "", from: 1, lines: 0, isCut: false });
  const wide = await files.read("wide.txt");
  ok(wide.kind === "text");
  deepStrictEqual([wide.text, wide.isCut], [`${"x".repeat(2000)}… (cut, 3000 characters in all)`, true]);
  const why = 'Cannot read "many.txt": it has only 3000 lines';
  deepStrictEqual(await files.read("many.txt", { from: 3001, count: 1 }), { kind: "refused", why });
  for (
    const range of [{ from: 0, count: 1 }, { from: 1, count: 0 }, { from: 1.5, count: 1 }, { from: NaN, count: 1 }]
  ) {
    strictEqual((await files.read("many.txt", range)).kind, "refused");
  }
});

const shown: readonly { name: string; head: readonly number[] | string; mediaType?: string }[] = [
  { name: "a PNG", head: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0], mediaType: "image/png" },
  { name: "a JPEG", head: [0xff, 0xd8, 0xff, 0xe0, 0], mediaType: "image/jpeg" },
  { name: "a GIF", head: "GIF89a\0", mediaType: "image/gif" },
  { name: "a WebP", head: "RIFF\0\0\0\0WEBPVP8 ", mediaType: "image/webp" },
  { name: "a PDF", head: "%PDF-1.7\n\0", mediaType: "application/pdf" },
  { name: "a ZIP", head: "PK\x03\x04\0" },
  { name: "UTF-16", head: [0xff, 0xfe, 0x61, 0] },
];

for (const { name, head, mediaType } of shown) {
  Deno.test(`CallerFiles.read() ${mediaType === undefined ? "refuses" : "gives the bytes of"} ${name} [§6 file-tools]`, async () => {
    const bytes = typeof head === "string" ? new TextEncoder().encode(head) : new Uint8Array(head);
    await using setting = await makeCallerFiles({ "a.bin": bytes });
    const why = 'Cannot read "a.bin": it is neither text in UTF-8 nor an image or document that can be shown';
    const expected = mediaType === undefined ? { kind: "refused", why } : { kind: "bytes", bytes, mediaType };
    deepStrictEqual(await setting.files.read("a.bin"), expected);
  });
}

Deno.test("CallerFiles.read() refuses an image that is too large [§6 file-tools]", async () => {
  await using setting = await makeCallerFiles({});
  const bytes = new Uint8Array(lookLimits.shownBytes + 1);
  bytes.set([0xff, 0xd8, 0xff]);
  await setting.put("a.jpg", bytes);
  const why = `Cannot read "a.jpg": it has ${bytes.length} bytes, the limit is ${lookLimits.shownBytes}`;
  deepStrictEqual(await setting.files.read("a.jpg"), { kind: "refused", why });
});

Deno.test("CallerFiles.write() keeps the mode, refuses a file over the limit, and writes through no link [§6 file-tools, §6 no-link-written]", async () => {
  await using setting = await makeCallerFiles({ "work/alice/a.sh": "old", "work/alice/dir/b": "old" });
  const { files, root } = setting;
  await Deno.chmod(join(root, "work/alice/a.sh"), 0o750);
  deepStrictEqual(await files.write("work/alice/a.sh", "new"), { kind: "done" });
  strictEqual((await Deno.stat(join(root, "work/alice/a.sh"))).mode! & 0o777, 0o750);
  const why = `Cannot write "work/alice/a.sh": it has ${settingBytesMax + 1} bytes, the limit is ${settingBytesMax}`;
  deepStrictEqual(await files.write("work/alice/a.sh", "x".repeat(settingBytesMax + 1)), { kind: "refused", why });
  strictEqual((await files.write("work/alice/a.sh", "x".repeat(settingBytesMax))).kind, "done");
  await Deno.symlink("dir", join(root, "work/alice/link"));
  await Deno.symlink("dir/b", join(root, "work/alice/b"));
  for (const path of ["work/alice/link/b", "work/alice/b"]) {
    strictEqual((await files.write(path, "new")).kind, "refused");
    strictEqual((await files.edit(path, { old: "old", new: "new" })).kind, "refused");
    deepStrictEqual(await files.read(path), { kind: "text", text: "old", from: 1, lines: 1, isCut: false });
  }
});

Deno.test("CallerFiles.edit() changes exact text, keeps CRLF, and two edits at once both count [§6 file-tools]", async () => {
  await using setting = await makeCallerFiles(workspace, { access: "write" });
  const { files } = setting;
  const edits = [
    files.edit("docs/a.md", { old: "a\nb", new: "1\n2" }),
    files.edit("docs/a.md", { old: "2", new: "two" }),
  ];
  deepStrictEqual(await Promise.all(edits), [{ kind: "done" }, { kind: "done" }]);
  strictEqual(await setting.textOf("docs/a.md"), "1\r\ntwo\r\n");
  const why = 'Cannot edit "docs/a.md": the text to replace is not in it';
  deepStrictEqual(await files.edit("docs/a.md", { old: "none", new: "" }), { kind: "refused", why });
  await setting.put("docs/bin", new Uint8Array([97, 0]));
  const noText = 'Cannot edit "docs/bin": it is no text in UTF-8';
  deepStrictEqual(await files.edit("docs/bin", { old: "a", new: "b" }), { kind: "refused", why: noText });
  await setting.put("docs/large", "x".repeat(settingBytesMax + 1));
  const large = `Cannot edit "docs/large": it has ${settingBytesMax + 1} bytes, the limit is ${settingBytesMax}`;
  deepStrictEqual(await files.edit("docs/large", { old: "x", new: "y", all: true }), { kind: "refused", why: large });
  await setting.put("docs/grows", "x".repeat(60_000));
  strictEqual((await files.edit("docs/grows", { old: "x", new: "yy", all: true })).kind, "refused");
  strictEqual(await setting.textOf("docs/grows"), "x".repeat(60_000));
});

Deno.test("CallerFiles.list() cuts a folder at its limit [§6 file-tools]", async () => {
  await using setting = await makeCallerFiles({ "docs/x": "" });
  for (let count = 0; count < lookLimits.names; count++) await Deno.writeTextFile(`${setting.root}/docs/${count}`, "");
  const listed = await setting.files.list("docs");
  ok(listed.kind === "entries");
  deepStrictEqual([listed.names.length, listed.isCut, listed.names.includes("x")], [lookLimits.names, true, false]);
});

Deno.test("CallerFiles say what a path and a full disk come to, and let other trouble of the disk through [§6 file-tools]", async () => {
  const disk = createFaultyDisk(createDisk(systemClock), createTestClock());
  await using setting = await makeCallerFiles({ "work/alice/a.txt": "x" }, { disk });
  disk.rule({ on: "write", code: "ENOSPC" });
  const full = 'Cannot write "work/alice/b.txt": no room is left';
  deepStrictEqual(await setting.files.write("work/alice/b.txt", "x"), { kind: "refused", why: full });
  disk.rule({ on: "openRead", code: "EACCES" });
  const barred = 'Cannot read "work/alice/a.txt": it cannot be opened';
  deepStrictEqual(await setting.files.read("work/alice/a.txt"), { kind: "refused", why: barred });
  disk.rule({ on: "openRead", code: "EIO" });
  await rejects(setting.files.read("work/alice/a.txt"));
});
