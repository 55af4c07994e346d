import { parseArgs } from "node:util";
import { startLog } from "@/log.ts";
import { type ConformanceHost, openConformanceHost } from "./conformance/conformance_host.ts";
import { type KitProfile, kitProfiles } from "./conformance/kit_profiles.ts";

const usage = `deno task conformance-server [--listen HOST:PORT] [--profile ${Object.keys(kitProfiles).join("|")}]

Serves a new empty workspace to the official conformance kit, until a signal (docs/internals/conformance.md).
Whoever reaches it may call: it is for this machine alone.`;

/** Serves until a signal; 2 when it is called wrongly or cannot listen. */
async function main(): Promise<number> {
  const { values: { listen = "127.0.0.1:5099", profile = "full", help } } = parseArgs({
    options: { listen: { type: "string" }, profile: { type: "string" }, help: { type: "boolean" } },
  });
  if (help || !(profile in kitProfiles)) {
    console.error(usage);
    return help ? 0 : 2;
  }
  using _log = startLog({ level: "warning", form: "text" });
  const signal = Promise.withResolvers<void>();
  for (const name of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(name, () => signal.resolve());
  let host: ConformanceHost;
  try {
    host = await openConformanceHost(listen, profile as KitProfile);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 2;
  }
  await using _host = host;
  const { hostname, port } = host.address;
  console.log(`Serving the conformance kit at http://${hostname}:${port}, profile ${profile}`);
  await signal.promise;
  return 0;
}

Deno.exit(await main());
