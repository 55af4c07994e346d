import { main } from "@/cli/cli.ts";

Deno.exitCode = await main(Deno.args);
