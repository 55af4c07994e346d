/** What must hold before anything lands, the quick ones first. Each is a `deno` command. */
const steps: readonly { readonly name: string; readonly args: readonly string[] }[] = [
  { name: "fmt", args: ["fmt", "--check"] },
  { name: "lint", args: ["lint", "--quiet"] },
  { name: "check", args: ["check", "--quiet"] },
  { name: "tidy", args: ["task", "--quiet", "tidy"] },
  { name: "docs", args: ["task", "--quiet", "docs", "--check"] },
  { name: "test", args: ["task", "--quiet", "test"] },
];

/** Runs the steps one after the other; stops at the first that fails and gives its name. */
async function runSteps(): Promise<string | undefined> {
  for (const { name, args } of steps) {
    const start = performance.now();
    const command = new Deno.Command(Deno.execPath(), { args: [...args], stdin: "null" });
    await using child = command.spawn();
    const { code } = await child.status;
    if (code !== 0) return name;
    console.error(`ok: ${name} passed in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  }
  return undefined;
}

const failed = await runSteps();
if (failed !== undefined) console.error(`ok: ${failed} failed, see above`);
Deno.exitCode = failed === undefined ? 0 : 1;
