/**
 * Runs one probe of `probe.ts` in a process of its own, so that it starts cold and its memory is its own, and returns
 * what it measured.
 *
 * @throws {Error} If the probe failed.
 */
export async function runProbe(
  name: string,
  input: Readonly<Record<string, string | number>>,
): Promise<Readonly<Record<string, number>>> {
  const probe = new URL("./probe.ts", import.meta.url).pathname;
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "-A", "--quiet", "--v8-flags=--expose-gc", probe, name, JSON.stringify(input)],
    stdin: "null",
  }).output();
  if (!success) throw new Error(`Cannot run probe ${name}: ${new TextDecoder().decode(stderr)}`);
  return JSON.parse(new TextDecoder().decode(stdout));
}
