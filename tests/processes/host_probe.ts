/** A thread with the rights of a host, or fewer, that tries what a host must not do. Posts what came of each: `done`, or an error's name. */
import "@/host/empty_environment.ts";
import process from "node:process";

const [workspace] = decodeURIComponent(new URL(import.meta.url).hash.slice(1)).split("\n") as [string];

const tries: Readonly<Record<string, () => unknown>> = {
  "write inside": () => Deno.writeTextFileSync(`${workspace}/made`, "x"),
  "read inside": () => Deno.readTextFileSync(`${workspace}/made`),
  "read outside": () => Deno.readTextFileSync("/etc/hostname"),
  "write outside": () => Deno.writeTextFileSync(`${workspace}-other`, "x"),
  "read beside": () => Deno.readTextFileSync(`${workspace}-other`),
  "start a program": () => new Deno.Command("true").outputSync(),
  "kill": () => Deno.kill(1, "SIGTERM"),
  "read the environment": () => Deno.env.get("HOME"),
  "process.env": () => {
    if (Object.keys(process.env).length > 0) throw new Error("it has something");
  },
  "import from outside": () => import(`file://${workspace}-other`),
  "listen": () => Deno.listen({ hostname: "127.0.0.1", port: 0 }).close(),
  "hostname": () => Deno.hostname(),
};

const results: Record<string, string> = {};
for (const [name, attempt] of Object.entries(tries)) {
  try {
    await attempt();
    results[name] = "done";
  } catch (error) {
    results[name] = (error as Error).name;
  }
}
(self as unknown as Worker).postMessage(results);
