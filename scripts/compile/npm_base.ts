import { runProgram } from "./run_program.ts";

/** A base that is no download of Deno's, and the Deno that compiles onto it (compile.md, last section). */
export interface NpmBase {
  /** Becomes `DENORT_BIN`. */
  readonly base: string;
  /** The `deno` to compile with. */
  readonly compiler: string;
}

/** The runtime of that base: what `src` may use is what this one has. */
export const npmBaseVersion = "2.6.10";
/** The compiler. Newer ones build onto that base too, but the result does not start. */
export const npmCompilerVersion = "2.8.3";

const files = {
  base: {
    // Somebody's program that Deno compiled; ours takes the place of it.
    spec: "@mcp-stress/linux-x64@0.2.1",
    path: "@mcp-stress/linux-x64/bin/mcp-stress",
    sha256: "257898aee9a507fd3a899a902c465223f4554da362e813132f024570a545edb7",
  },
  compiler: {
    spec: `@deno/linux-x64-glibc@${npmCompilerVersion}`,
    path: "@deno/linux-x64-glibc/deno",
    sha256: "fad410f13100362ebe95b6cb3d72305d8bc2e5cc8a11685bc19a9b15c0334d02",
  },
} as const;

const triesMax = 3;
const installMs = 180_000;

/**
 * Gets the two from the npm registry into `folder`, once; then what is there is used.
 *
 * Both are executables that others made, so each must have exactly the bytes that were tried when this was written.
 *
 * @throws {Error} If this machine is of another kind, npm fails three times, or a file has other bytes.
 */
export async function getNpmBase(folder: string): Promise<NpmBase> {
  const { os, arch } = Deno.build;
  if (os !== "linux" || arch !== "x86_64") {
    throw new Error(
      `There is no base in the npm registry for ${os} on ${arch}; compile where Deno can download its own`,
    );
  }
  const found = {
    base: `${folder}/node_modules/${files.base.path}`,
    compiler: `${folder}/node_modules/${files.compiler.path}`,
  };
  if (!await areWhole(found)) await install(folder);
  for (const name of ["base", "compiler"] as const) {
    if (await isWhole(found[name], files[name].sha256)) continue;
    throw new Error(
      `${files[name].spec} is not what it was: ${found[name]} has other bytes; remove ${folder} and try again`,
    );
  }
  return found;
}

async function areWhole(found: NpmBase): Promise<boolean> {
  return await isWhole(found.base, files.base.sha256) && await isWhole(found.compiler, files.compiler.sha256);
}

async function isWhole(path: string, sha256: string): Promise<boolean> {
  const bytes = await Deno.readFile(path).catch(() => undefined);
  return bytes !== undefined && new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex() === sha256;
}

async function install(folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const flags = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
  const args = ["install", "--prefix", folder, ...flags, files.base.spec, files.compiler.spec];
  for (let tries = 1;; tries++) {
    const { success, error } = await runProgram({ program: "npm", args, timeoutMs: installMs });
    if (success) return;
    if (tries === triesMax) throw new Error(`npm cannot install ${files.base.spec}: ${error.trim()}`);
  }
}
