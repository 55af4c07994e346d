import { deepStrictEqual } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";

Deno.test("every file of a workspace is used with the rights of the host: one folder, no prompt [§4 scoped]", async () => {
  await using folder = await makeTempFolder();
  await Deno.mkdir(`${folder.path}/.volcanic`);
  await Deno.symlink("/etc", `${folder.path}/out`);
  await Deno.symlink(".volcanic", `${folder.path}/in`);
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--no-prompt", "--quiet", `--allow-read=${folder.path}`, `--allow-write=${folder.path}`],
      ...[fileURLToPath(import.meta.resolve("@tests/processes/scoped_workspace.ts")), folder.path],
    ],
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  deepStrictEqual({ code, out: text(stdout), error: text(stderr) }, { code: 0, out: "done\n", error: "" });
});
