import { fileURLToPath } from "node:url";
import { namespaceAddresses, namespaceHosts, namespaceVariable } from "./outbound_web.ts";

const project = fileURLToPath(new URL(".", import.meta.resolve("@manifest")));

/** Says why no network namespace can be had here; undefined when one can. */
export async function whyNoNamespace(): Promise<string | undefined> {
  if (Deno.build.os !== "linux") return "it needs Linux";
  if (Deno.env.get(namespaceVariable) !== undefined) return "this is one already";
  if (Deno.uid() !== 0) return "it needs root";
  const { success, error } = await runInNamespace("true", []);
  return success ? undefined : `it is not permitted (${error.trim()})`;
}

/** How a program ended that ran in a namespace. */
export interface NamespaceEnd {
  readonly success: boolean;
  readonly out: string;
  readonly error: string;
}

/**
 * Runs a program in a namespace of its own, whose network is this machine alone: public and private addresses on `lo`, a name
 * server to come on 127.0.0.1:53, a list of domains to search, a hosts file. Nothing outside sees or is seen; all of it ends with the program.
 */
export async function runInNamespace(program: string, args: readonly string[]): Promise<NamespaceEnd> {
  const folder = await Deno.makeTempDir({ prefix: "volcanic-a2a-" });
  try {
    await Deno.writeTextFile(`${folder}/hosts`, namespaceHosts);
    await Deno.writeTextFile(`${folder}/resolv.conf`, "nameserver 127.0.0.1\nsearch hook.test\n");
    const command = new Deno.Command("unshare", {
      args: ["-n", "-m", "-p", "-f", "--mount-proc", "sh", "-ec", setUp(folder), program, ...args],
      cwd: project,
      env: { [namespaceVariable]: "1", NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
      stdin: "null",
    });
    const { success, stdout, stderr } = await command.output();
    return { success, out: new TextDecoder().decode(stdout), error: new TextDecoder().decode(stderr) };
  } catch (error) {
    return { success: false, out: "", error: (error as Error).message };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** `"$0" "$@"` is the program. */
function setUp(folder: string): string {
  const isV6 = (address: string) => address.includes(":");
  return [
    "ip link set lo up",
    ...namespaceAddresses.map((address) => `ip addr add ${address}/${isV6(address) ? "128" : "32"} dev lo`),
    ...["hosts", "resolv.conf"].map((file) => `mount --bind ${folder}/${file} /etc/${file}`),
    'exec "$0" "$@"',
  ].join("\n");
}
