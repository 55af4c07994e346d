import { deepStrictEqual, ok } from "node:assert/strict";
import { fileURLToPath } from "node:url";

interface Dependency {
  readonly isDynamic?: boolean;
  readonly code?: { readonly specifier?: string };
}

interface Module {
  readonly specifier: string;
  readonly dependencies?: readonly Dependency[];
}

/** What is loaded when a module is, and what may be later: the specifiers of all modules. */
async function graphOf(entry: string) {
  const args = ["info", "--json", fileURLToPath(import.meta.resolve(entry))];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args, stderr: "null" }).output();
  const modules = new Map<string, Module>();
  for (const module of JSON.parse(new TextDecoder().decode(stdout)).modules) modules.set(module.specifier, module);
  const loaded = new Set<string>();
  const load = (specifier: string) => {
    if (loaded.has(specifier)) return;
    loaded.add(specifier);
    for (const { isDynamic, code } of modules.get(specifier)?.dependencies ?? []) {
      if (isDynamic !== true && code?.specifier !== undefined) load(code.specifier);
    }
  };
  load(import.meta.resolve(entry));
  return { loaded: [...loaded], all: [...modules.keys()] };
}

const isSdk = (specifier: string) => /^npm:\/?(?:ai|@ai-sdk\/[a-z-]+|zod)@/.test(specifier);

for (const entry of ["@/cli/cli.ts", "@/host_worker.ts", "@/host/host_thread.ts"]) {
  Deno.test(`${entry.split("/").at(-1)} does not load the SDK of the models at a start [§8 llm-start]`, async () => {
    const { loaded, all } = await graphOf(entry);
    ok(loaded.length > (entry.endsWith("host_worker.ts") ? 0 : 10), loaded.join("\n"));
    deepStrictEqual(loaded.filter(isSdk), []);
    ok(all.some(isSdk), "the SDK is somewhere behind it");
  });
}
