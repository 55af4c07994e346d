import { deepStrictEqual } from "node:assert/strict";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { hostPermissions } from "./host_permissions.ts";

Deno.test("the host's thread has the rights of its workspaces and no others, and is never asked [§4 scoped-worker]", async () => {
  await using folder = await makeTempFolder();
  const workspace = `${folder.path}/home`;
  await Deno.mkdir(workspace);
  await Deno.writeTextFile(`${workspace}-other`, "not its business");
  const url = `${import.meta.resolve("@tests/processes/host_probe.ts")}#${encodeURIComponent(workspace)}`;
  const how = { type: "module", deno: { permissions: hostPermissions([workspace]) } };
  const worker = new Worker(url, how as WorkerOptions);
  const results = await new Promise((resolve, reject) => {
    worker.addEventListener("message", ({ data }) => resolve(data));
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      reject(new Error(event.message));
    });
  });
  worker.terminate();
  deepStrictEqual(results, {
    "write inside": "done",
    "read inside": "done",
    "read outside": "NotCapable",
    "write outside": "NotCapable",
    "read beside": "NotCapable",
    "start a program": "NotCapable",
    "kill": "NotCapable",
    "read the environment": "NotCapable",
    "process.env": "done",
    "import from outside": "TypeError",
    "listen": "done",
    "hostname": "done",
  });
});
