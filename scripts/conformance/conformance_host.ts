import { join } from "node:path";
import { openPeer } from "@/app.ts";
import { readConfig } from "@/config.ts";
import { systemRandom } from "@/random.ts";
import { type ListenerAddress, openListener } from "@/server/http/listener.ts";
import { systemClock } from "@/time/clock.ts";
import { addCaller } from "@/workspace/callers_editor.ts";
import { createDisk } from "@/workspace/disk.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";
import { asAnonymousCaller } from "./anonymous_caller.ts";
import { createKitEngine } from "./kit_engine.ts";
import { kitOperations } from "./kit_operations.ts";
import { type KitProfile, kitProfiles } from "./kit_profiles.ts";

/** A server that the conformance kit can be run against. Disposing ends it and removes its workspace. */
export interface ConformanceHost extends AsyncDisposable {
  readonly address: ListenerAddress;
}

/**
 * Serves a new workspace with our own server and store, at `listen`, to whoever asks: a request without a key is taken for
 * one of the workspace's only caller. Throws when it cannot listen there.
 */
export async function openConformanceHost(listen: string, profile: KitProfile): Promise<ConformanceHost> {
  // The kit takes its pushes on this machine, by http.
  const read = readConfig({ flags: { listen, "allow-private-push-urls": "true", ...noRates } });
  if (read.kind === "problems") throw new Error(read.problems.join("\n"));
  const { config } = read;
  const clock = systemClock;
  await using opened = new AsyncDisposableStack();
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "volcanic-a2a-conformance-" }));
  opened.defer(() => Deno.remove(root, { recursive: true }));
  const folder = join(root, "home");
  await Deno.mkdir(folder);
  const parts = { config, clock, disk: createDisk(clock), random: systemRandom, pid: Deno.pid };
  const key = await addAnonymousCaller(folder, parts);
  const peer = await openPeer({
    ...parts,
    workspaces: [{ name: "home", folder }],
    openEngine: () => createKitEngine({ clock }),
    capabilities: kitProfiles[profile],
    operations: kitOperations,
  });
  if (peer.kind === "refused") throw new Error(peer.message);
  opened.use(peer);
  await peer.start();
  const caller = { key, namesExtension: profile === "extension" };
  const listener = openListener(config.listen.value, {
    answer: async (request, info) => await peer.fetch(await asAnonymousCaller(request, caller), info),
    clock,
  });
  if (listener.kind === "refused") throw new Error(listener.message);
  opened.use(listener);
  const all = opened.move();
  return { address: listener.address, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** The kits ask as fast as they can. */
const noRates = { "requests-per-minute": "0", "reads-per-minute": "0", "turns-per-context": "0" };

type Parts = Pick<Parameters<typeof openPeer>[0], "clock" | "disk" | "random">;

async function addAnonymousCaller(folder: string, parts: Parts) {
  const { callersFile: path, editLock: lock } = workspacePaths(folder);
  const made = await addCaller({ ...parts, path, lock }, { name: "kit" });
  if (made.kind !== "made") throw new Error("Cannot add the kit's caller");
  return made.key;
}
