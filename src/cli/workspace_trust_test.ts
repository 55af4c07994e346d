import { ok, strictEqual } from "node:assert/strict";
import { createFaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { type TrustOptions, trustProblem } from "./workspace_trust.ts";

async function git(folder: string, ...args: readonly string[]): Promise<void> {
  const command = new Deno.Command("git", { args: ["-C", folder, ...args], stdout: "null", stderr: "piped" });
  const { success, stderr } = await command.output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/** A folder with callers, as a person would make it. */
async function makeWorkspace(folder: string): Promise<void> {
  await Deno.mkdir(`${folder}/.volcanic/a2a`, { recursive: true });
  await Deno.writeTextFile(`${folder}/.volcanic/a2a/callers.json`, "[]");
}

function look(folder: string, more: Partial<TrustOptions> = {}): Promise<string | undefined> {
  const clock = createTestClock();
  const disk = createFaultyDisk(createDisk(systemClock), clock);
  return trustProblem(folder, { disk, clock, uid: Deno.uid(), ...more });
}

Deno.test("trustProblem() has none with a folder of our own, in a repository too while nothing of it is tracked [§4 foreign-folder]", async () => {
  await using temp = await makeTempFolder();
  strictEqual(await look(temp.path), undefined);
  await makeWorkspace(temp.path);
  strictEqual(await look(temp.path), undefined);
  await git(temp.path, "init");
  await Deno.writeTextFile(`${temp.path}/README.md`, "x");
  await git(temp.path, "add", "README.md");
  strictEqual(await look(temp.path), undefined);
});

Deno.test("trustProblem() names a file that is tracked by git, of a folder inside a repository too [§4 foreign-folder]", async () => {
  await using temp = await makeTempFolder();
  const folder = `${temp.path}/notes`;
  await makeWorkspace(folder);
  await git(temp.path, "init");
  await git(temp.path, "add", "-f", ".");
  const cure = "if you put it there, serve it with --trust-workspace";
  strictEqual(
    await look(folder),
    `Cannot serve ${folder}: .volcanic/a2a/callers.json is tracked by git; ${cure}`,
  );
});

Deno.test("trustProblem() runs nothing that the repository names [§4 foreign-folder]", async () => {
  await using temp = await makeTempFolder();
  await makeWorkspace(temp.path);
  await git(temp.path, "init");
  await git(temp.path, "add", "-f", ".");
  const marker = `${temp.path}/ran`;
  await Deno.writeTextFile(`${temp.path}/evil.sh`, `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
  await git(temp.path, "config", "core.fsmonitor", `${temp.path}/evil.sh`);
  await git(temp.path, "config", "core.hooksPath", temp.path);
  ok((await look(temp.path))?.includes("is tracked by git"));
  strictEqual(await Deno.stat(marker).then(() => true, () => false), false);
});

Deno.test("trustProblem() names a file of another user [§4 foreign-folder]", async () => {
  await using temp = await makeTempFolder();
  await makeWorkspace(temp.path);
  const problem = await look(temp.path, { uid: Deno.uid()! + 1 });
  ok(problem?.startsWith(`Cannot serve ${temp.path}: ${temp.path}/.volcanic belongs to another user;`), problem);
});

Deno.test("trustProblem() has none where there is no git [§4 foreign-folder]", async () => {
  await using temp = await makeTempFolder();
  await makeWorkspace(temp.path);
  strictEqual(await look(temp.path, { git: `${temp.path}/no-such-git` }), undefined);
});

Deno.test("trustProblem() does not wait for a git that hangs, nor believe one that fails [§4 foreign-folder]", async () => {
  await using temp = await makeTempFolder();
  await makeWorkspace(temp.path);
  const fails = `${temp.path}/fails`;
  await Deno.writeTextFile(fails, "#!/bin/sh\necho 'fatal: index file corrupt' >&2\nexit 128\n", { mode: 0o755 });
  ok((await look(temp.path, { git: fails }))?.includes('git says "fatal: index file corrupt"'));
  const hangs = `${temp.path}/hangs`;
  await Deno.writeTextFile(hangs, "#!/bin/sh\nexec sleep 60\n", { mode: 0o755 });
  const clock = createTestClock();
  const looking = look(temp.path, { git: hangs, clock });
  while (clock.pending === 0) await clock.settle();
  await clock.advance(5_000);
  ok((await looking)?.includes("git did not say in time"));
});
