import { runToExit } from "@/cli/cli.ts";

// The second entry point: the host's thread. In the executable both are bundles.
const host = `./src/host_worker.${import.meta.url.endsWith(".js") ? "js" : "ts"}`;
await runToExit(Deno.args, new URL(host, import.meta.url));
