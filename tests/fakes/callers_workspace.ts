import { fileURLToPath } from "node:url";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";

const program = fileURLToPath(import.meta.resolve("@manifest").replace(/deno\.json$/, "main.ts"));

/** How a command ended, and what it said. */
export interface EndedCommand {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** A workspace, and `callers …` on it as a person would type it, with no right but to that workspace. */
export async function makeCallersWorkspace(content?: string) {
  const folder = await makeTempFolder();
  const a2a = `${folder.path}/.volcanic/a2a`;
  const path = `${a2a}/callers.json`;
  if (content !== undefined) {
    await Deno.mkdir(a2a, { recursive: true });
    await Deno.writeTextFile(path, content);
  }
  const callers = async (...args: readonly string[]): Promise<EndedCommand> => {
    const rights = [`--allow-read=${folder.path}`, `--allow-write=${folder.path}`, "--allow-env"];
    const command = ["run", "--no-prompt", "--quiet", ...rights, program, "callers", ...args];
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [...command, "--workspace", folder.path],
      env: { NO_COLOR: "1" },
      stdin: "null",
    }).output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    return { code, out: text(stdout), error: text(stderr) };
  };
  return {
    ...{ root: folder.path, a2a, path, callers },
    json: async () => JSON.parse(await Deno.readTextFile(path)),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
