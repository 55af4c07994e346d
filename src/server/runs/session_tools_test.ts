import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { alice } from "@tests/fakes/run_service_fixture.ts";
import { sampleId } from "@tests/fakes/sample_tasks.ts";
import { createFaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { createTestRandom } from "@tests/fakes/test_random.ts";
import type { ArtifactJson } from "@/protocol/task.ts";
import { MemoryTaskStore } from "@tests/fakes/memory_task_store.ts";
import { artifactBytesMax } from "@/server/tasks/lifecycle.ts";
import { systemClock } from "@/time/clock.ts";
import { callerMap, confinementOf, workshopOf } from "@/workspace/caller_map.ts";
import { createDisk } from "@/workspace/disk.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";
import { CallerFiles } from "./session_files.ts";
import { callerTools, filesMax } from "./session_tools.ts";

Deno.test("send() copies a file of the workspace into an artifact, small ones as base64 [SM1 T4]", async () => {
  await using setting = await makeTools({ "notes/today.md": "# Hi" });
  deepStrictEqual(await setting.tools.send!("notes/today.md"), { kind: "done" });
  const [artifact] = setting.sent;
  strictEqual(artifact?.name, "today.md");
  deepStrictEqual(artifact?.parts, [{ raw: btoa("# Hi"), filename: "today.md", mediaType: "text/markdown" }]);
  strictEqual(setting.made.files, 1);
});

Deno.test("send() puts more than 32 KiB into a blob that is durable before its commit [DM5 blobs]", async () => {
  const [small, large] = ["x".repeat(32 * 1024), "x".repeat(32 * 1024 + 1)];
  await using setting = await makeTools({ "small.bin": small, "large.bin": large });
  await setting.tools.send!("small.bin");
  await setting.tools.send!("large.bin");
  strictEqual(typeof setting.sent[0]?.parts[0]?.raw, "string");
  const ref = setting.sent[1]?.parts[0]?.raw;
  ok(typeof ref === "object");
  strictEqual(ref.bytes, large.length);
  strictEqual(await new Response(await setting.store.openBlob(sampleId(1), ref)).text(), large);
});

Deno.test("send() copies the file now: a later change does not matter", async () => {
  await using setting = await makeTools({ "a.txt": "before" });
  await setting.tools.send!("a.txt");
  await setting.put("a.txt", "after");
  strictEqual(setting.sent[0]?.parts[0]?.raw, btoa("before"));
});

const hidden = [
  ".volcanic/a2a/callers.json",
  ".volcanic/sessions/ws-owner.jsonl",
  "sub/.volcanic/x",
  ".env",
  "app/.env.local",
  ".env/inner.txt",
  "server.pem",
  "deep/SERVER.KEY",
  ".git/config",
  ".netrc",
  "inbox/bob/t/a.txt",
  "inbox/a2a/t/a.txt",
  "work/bob/a.txt",
];

for (const path of hidden) {
  Deno.test(`send() refuses ${path}, which is hidden from the caller`, async () => {
    await using setting = await makeTools({ [path]: "secret", "x.txt": "plain" });
    const refused = { kind: "refused", why: "there is no such file, or it is hidden" };
    deepStrictEqual(await setting.tools.send!(path), refused);
    deepStrictEqual(await setting.tools.send!(`${setting.root}/${path}`), refused);
    await Deno.symlink(`${setting.root}/${path}`, `${setting.root}/link.txt`);
    deepStrictEqual(await setting.tools.send!("link.txt"), refused);
    strictEqual(setting.sent.length, 0);
  });
}

const outside = ["..", "../x", "/etc/passwd", "a/../../x", ".", "", "missing.txt", "a\0b", "notes"];

for (const path of outside) {
  Deno.test(`send() refuses ${JSON.stringify(path)}`, async () => {
    await using setting = await makeTools({ "notes/a.txt": "x" });
    strictEqual((await setting.tools.send!(path)).kind, "refused");
    strictEqual(setting.sent.length, 0);
  });
}

Deno.test("send() refuses a link that leads outside, and a FIFO without waiting", async () => {
  await using setting = await makeTools({});
  await Deno.symlink("/etc/hostname", `${setting.root}/out.txt`);
  strictEqual((await setting.tools.send!("out.txt")).kind, "refused");
  await new Deno.Command("mkfifo", { args: [`${setting.root}/fifo`] }).output();
  strictEqual((await setting.tools.send!("fifo")).kind, "refused");
});

Deno.test("send() takes what the caller brought and made itself", async () => {
  await using setting = await makeTools({ "inbox/alice/t/a.txt": "1", "work/alice/b.txt": "2" });
  strictEqual((await setting.tools.send!("inbox/alice/t/a.txt")).kind, "done");
  strictEqual((await setting.tools.send!("work/alice/b.txt")).kind, "done");
});

Deno.test("send() refuses a file over the limit, naming size and limit", async () => {
  await using setting = await makeTools({ "big.bin": "x".repeat(100_001) });
  const refused = { kind: "refused", why: "the file has 100001 bytes, the limit is 100000" };
  deepStrictEqual(await setting.tools.send!("big.bin"), refused);
});

Deno.test("send() refuses the 101st file of a run, calls at once included [SM3 turning-limits]", async () => {
  await using setting = await makeTools({ "a.txt": "x" });
  const all = await Promise.all(Array.from({ length: filesMax + 1 }, () => setting.tools.send!("a.txt")));
  strictEqual(all.filter(({ kind }) => kind === "done").length, 100);
  deepStrictEqual(await setting.tools.send!("a.txt"), {
    kind: "refused",
    why: "only 100 files can be sent in one run",
  });
  strictEqual(setting.made.files, 100);
});

Deno.test("send() refuses a file over what is left of a task's 256 MiB, before it is copied [DM5 bounds]", async () => {
  const large = "x".repeat(40_000);
  await using setting = await makeTools({ "a.bin": large, "b.bin": large, "tiny.txt": "x" }, {
    artifactBytes: artifactBytesMax - 79_999,
  });
  setting.isOver = true;
  strictEqual((await setting.tools.send!("a.bin")).kind, "refused"); // what was not sent takes no room
  setting.isOver = false;
  const all = await Promise.all(["a.bin", "b.bin"].map((path) => setting.tools.send!(path)));
  const why = "the files of a task may have 268435456 bytes in all";
  deepStrictEqual(all.filter(({ kind }) => kind === "refused"), [{ kind: "refused", why }]);
  deepStrictEqual(await setting.tools.send!("tiny.txt"), { kind: "done" });
  strictEqual(setting.sent.length, 2);
});

Deno.test("send() does not count what was refused, and says so when the task is over", async () => {
  await using setting = await makeTools({ "a.txt": "x" });
  setting.isOver = true;
  deepStrictEqual(await setting.tools.send!("a.txt"), { kind: "refused", why: "the task is over" });
  strictEqual((await setting.tools.send!("missing.txt")).kind, "refused");
  strictEqual(setting.made.files, 0);
});

Deno.test("write() makes files in the caller's own folder, whose path from the root can be sent", async () => {
  await using setting = await makeTools({});
  const written = await setting.tools.write!("sub/report.txt", new TextEncoder().encode("all is well"));
  deepStrictEqual(written, { kind: "done", path: "work/alice/sub/report.txt" });
  strictEqual(await setting.read("work/alice/sub/report.txt"), "all is well");
  deepStrictEqual(await setting.tools.send!(written.path!), { kind: "done" });
});

for (const name of ["../bob/x.txt", "../../x.txt", "/etc/x", "/tmp/volcanic-x", "a/../../x", "..", "", ".", "x\0"]) {
  Deno.test(`write() refuses ${JSON.stringify(name)} and writes nothing`, async () => {
    await using setting = await makeTools({ "work/bob/keep.txt": "x" });
    strictEqual((await setting.tools.write!(name, new Uint8Array(1))).kind, "refused");
    deepStrictEqual(await setting.tree(), ["work/", "work/alice/", "work/bob/", "work/bob/keep.txt"]);
  });
}

Deno.test("write() does not follow a link out of the caller's folder", async () => {
  await using setting = await makeTools({ "work/alice/a.txt": "x", "secret.txt": "old", "work/bob/b.txt": "old" });
  await Deno.symlink(`${setting.root}/secret.txt`, join(setting.root, "work/alice/link.txt"));
  await Deno.symlink(join(setting.root, "work/bob"), join(setting.root, "work/alice/folder"));
  strictEqual((await setting.tools.write!("link.txt", new Uint8Array(3))).kind, "refused");
  strictEqual((await setting.tools.write!("folder/b.txt", new Uint8Array(3))).kind, "refused");
  deepStrictEqual([await setting.read("secret.txt"), await setting.read("work/bob/b.txt")], ["old", "old"]);
});

Deno.test("write() says that no room is left", async () => {
  await using setting = await makeTools({});
  setting.disk.rule({ on: "write", code: "ENOSPC" });
  deepStrictEqual(await setting.tools.write!("a.txt", new Uint8Array(9)), { kind: "refused", why: "no room is left" });
});

Deno.test("requestInput() keeps the last question; notifyOwner() is there only when the host takes notices", async () => {
  await using setting = await makeTools({});
  strictEqual(setting.made.question, undefined);
  setting.tools.requestInput!("One?");
  setting.tools.requestInput!("Two?");
  strictEqual(setting.made.question, "Two?");
  strictEqual(setting.tools.notifyOwner, undefined);
  await using other = await makeTools({}, { notices: true });
  deepStrictEqual(await other.tools.notifyOwner!("hello"), { kind: "refused", why: "alice c1 hello" });
  match(other.root, /volcanic-a2a/);
});

async function makeTools(
  files: Readonly<Record<string, string>>,
  { notices = false, artifactBytes = 0 }: { notices?: boolean; artifactBytes?: number } = {},
) {
  const temp = await makeTempFolder();
  const clock = createTestClock();
  const disk = createFaultyDisk(createDisk(systemClock), clock);
  const random = createTestRandom();
  const paths = workspacePaths(temp.path);
  const map = callerMap({ paths, caller: alice, access: "read", hide: [], otherStates: [] });
  const store = new MemoryTaskStore({ clock });
  const sent: ArtifactJson[] = [];
  const setting = { isOver: false };
  const put = async (path: string, text: string) => {
    await Deno.mkdir(`${temp.path}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(`${temp.path}/${path}`, text);
  };
  for (const [path, text] of Object.entries(files)) await put(path, text);
  const made = callerTools({
    ...{ taskId: sampleId(1), contextId: "c1", caller: alice, store, random, fileBytesMax: 100_000, artifactBytes },
    view: confinementOf(map, { disk, random }),
    files: new CallerFiles({ map, disk, random, clock, fileBytesMax: 100_000 }),
    workshop: workshopOf(map, { disk, random }),
    notify: notices
      ? ({ from, contextId, text }) => Promise.resolve({ kind: "refused", why: `${from} ${contextId} ${text}` })
      : undefined,
    commitFile(artifact) {
      if (!setting.isOver) sent.push(artifact);
      return Promise.resolve(setting.isOver ? { kind: "refused", why: "the task is over" } : { kind: "done" });
    },
  });
  return Object.assign(setting, {
    ...{ made, tools: made.tools, sent, store, disk, put, root: temp.path },
    read: (path: string) => Deno.readTextFile(`${temp.path}/${path}`),
    tree: () => listTree(temp.path),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  });
}

async function listTree(root: string, under = ""): Promise<string[]> {
  const paths: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(`${root}/${under}`)) {
    const path = under + name;
    if (isDirectory) paths.push(`${path}/`, ...await listTree(root, `${path}/`));
    else paths.push(path);
  }
  return paths.sort();
}
