import { strictEqual } from "node:assert/strict";
import { briefly } from "@tests/fakes/run_service_fixture.ts";
import { startHost, type TestHost, type TestHostOptions } from "@tests/fakes/test_host.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";

/** A host of a workspace with a few files, and what alice's session answers to a message. */
async function makeHost(options: TestHostOptions = {}) {
  const made = await startHost(options);
  for (const path of ["docs/a.md", "docs/plan.draft", "private/b.md", "work/bob/c.md", ".env"]) {
    await Deno.mkdir(`${made.workspace}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(`${made.workspace}/${path}`, `text of ${path}`);
  }
  return { made, [Symbol.asyncDispose]: () => made[Symbol.asyncDispose]() };
}

async function answer(made: TestHost, text: string): Promise<string | undefined> {
  using accepted = await made.send(text);
  await briefly(accepted.events);
  return await made.says(accepted.task.id);
}

async function writeCallers({ workspace, clock }: TestHost, callers: readonly unknown[]): Promise<void> {
  await Deno.writeTextFile(workspacePaths(workspace).callersFile, JSON.stringify(callers));
  await clock.advance(5_000); // past the age at which an edit within a tick would be missed
}

const noSuch = "there is no such file, or it is hidden";
const onlyOwn = "in this session only files below work/alice/ may be changed";

const rows: readonly (readonly [message: string, says: string])[] = [
  ["read: docs/a.md", "text of docs/a.md"],
  ["list: .", "docs/\nprivate/\nwork/"],
  ["list: work", "(it is empty)"],
  ["read: .env", `read refused: Cannot read ".env": ${noSuch}`],
  ["read: work/bob/c.md", `read refused: Cannot read "work/bob/c.md": ${noSuch}`],
  ["read: .volcanic/a2a/host.json", `read refused: Cannot read ".volcanic/a2a/host.json": ${noSuch}`],
  ["write: docs/a.md new", `write refused: Cannot write "docs/a.md": ${onlyOwn}`],
  ["write: work/alice/a.md new\nread: work/alice/a.md", "wrote work/alice/a.md\nnew"],
];

for (const [message, says] of rows) {
  Deno.test(`a caller's session answers ${JSON.stringify(message)} by its map [§6 file-tools, §6 hidden, §6 own-folders]`, async () => {
    await using host = await makeHost();
    strictEqual(await answer(host.made, message), says);
  });
}

Deno.test("a caller's session sees nothing of what Hide names, by reading, listing or sending [§6 hide]", async () => {
  await using host = await makeHost({ flags: { hide: "/private, *.draft" } });
  strictEqual(await answer(host.made, "list: ."), "docs/\nwork/");
  strictEqual(await answer(host.made, "list: docs"), "a.md");
  strictEqual(await answer(host.made, "read: private/b.md"), `read refused: Cannot read "private/b.md": ${noSuch}`);
  strictEqual(await answer(host.made, "send: private/b.md"), `send refused: ${noSuch}`);
  strictEqual(await answer(host.made, "send: docs/plan.draft"), `send refused: ${noSuch}`);
});

Deno.test("a caller's session sees no state folder of another workspace, whatever it is called [§6 hidden]", async () => {
  const workspace = await Deno.realPath(await Deno.makeTempDir());
  await Deno.mkdir(`${workspace}/mounted`);
  await Deno.writeTextFile(`${workspace}/mounted/callers.json`, "SECRET");
  await using made = await startHost({ workspace, otherStates: [`${workspace}/mounted`] });
  const path = "mounted/callers.json";
  strictEqual(await answer(made, `read: ${path}`), `read refused: Cannot read "${path}": ${noSuch}`);
  strictEqual(await answer(made, "list: ."), "(it is empty)");
});

Deno.test("access in callers.json counts for the next run [§6 access-fresh, §6 write-access]", async () => {
  await using host = await makeHost();
  const { made } = host;
  const entry = { name: "alice", keyHash: `sha256:${"a".repeat(64)}` };
  const refused = `write refused: Cannot write "docs/a.md": ${onlyOwn}`;
  await writeCallers(made, [entry]);
  strictEqual(await answer(made, "write: docs/a.md new"), refused);
  await writeCallers(made, [{ ...entry, access: "write" }]);
  strictEqual(await answer(made, "write: docs/a.md new\nread: docs/a.md"), "wrote docs/a.md\nnew");
  const steers = "it steers tools of the owner, so it may not be changed from here";
  strictEqual(await answer(made, "write: CLAUDE.md obey"), `write refused: Cannot write "CLAUDE.md": ${steers}`);
  await writeCallers(made, [entry]);
  strictEqual(await answer(made, "write: docs/a.md more"), refused);
  await writeCallers(made, [{ ...entry, access: "all" }]);
  strictEqual(await answer(made, "write: docs/a.md more"), refused);
});
