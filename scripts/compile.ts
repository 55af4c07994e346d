import manifest from "@manifest" with { type: "json" };
import {
  bundleArguments,
  bundleFolder,
  compileArguments,
  isBaseUnreachable,
  outputPath,
} from "./compile/compile_arguments.ts";
import { getNpmBase, npmBaseVersion, npmCompilerVersion } from "./compile/npm_base.ts";
import { type ProgramEnd, runProgram } from "./compile/run_program.ts";

/** The Deno that this program is written, checked and bundled with. */
const denoVersion = "2.9.6";
/** Everything that is downloaded to compile; git-ignored. */
const cacheFolder = ".deno-compile";
const stepMs = 240_000;

/** Where the base comes from: `auto` tries Deno's own download, then npm. */
type BaseChoice = "auto" | "download" | "npm";

/** The executable as it was made, for the last line. */
interface Made {
  /** The version of the runtime in it. */
  readonly runtime: string;
  /** How it came to be. */
  readonly by: string;
}

/** Bundles and compiles. Gives the last line to print; throws an Error whose message says what to do. */
async function compile(choice: BaseChoice): Promise<string> {
  if (Deno.version.deno !== denoVersion) {
    const cure = `run npx -y deno@${denoVersion} task compile`;
    throw new Error(`This is Deno ${Deno.version.deno}, and the program is checked with ${denoVersion}; ${cure}`);
  }
  const startMs = performance.now();
  await bundle();
  const made = await makeExecutable(choice);
  const started = await runProgram({ program: `./${outputPath}`, args: ["--version"], timeoutMs: 30_000 });
  if (started.out.trim() !== manifest.version) {
    throw new Error(`${outputPath} was made (${made.by}), but does not start: ${started.error.trim() || started.out}`);
  }
  const megabytes = (await Deno.stat(outputPath)).size / 1e6;
  const seconds = (performance.now() - startMs) / 1000;
  const about = `${megabytes.toFixed(1)} MB, runtime ${made.runtime}, ${made.by}, in ${seconds.toFixed(1)} s`;
  return `${outputPath}: version ${manifest.version}, ${about}`;
}

async function bundle(): Promise<void> {
  const entries = ["main.ts"];
  if (await isThere("src/host_worker.ts")) entries.push("src/host_worker.ts");
  else say("There is no src/host_worker.ts: the executable is made without it");
  await Deno.remove(bundleFolder, { recursive: true }).catch(() => {});
  const bundled = await deno(Deno.execPath(), bundleArguments(entries));
  if (!bundled.success) throw new Error(`deno bundle failed: ${bundled.error.trim()}`);
}

async function makeExecutable(choice: BaseChoice): Promise<Made> {
  const given = Deno.env.get("DENORT_BIN");
  if (choice !== "npm" && given !== undefined && given !== "") {
    say(`The base is ${given}, since DENORT_BIN says so`);
    requireSuccess(await deno(Deno.execPath(), compileArguments));
    return { runtime: "of that base", by: `base ${given}` };
  }
  if (choice !== "npm") {
    const compiled = await deno(Deno.execPath(), compileArguments);
    if (compiled.success || choice === "download" || !isBaseUnreachable(compiled.error)) {
      requireSuccess(compiled);
      return { runtime: denoVersion, by: `compiled by Deno ${denoVersion}` };
    }
    say(`Deno's own base for ${denoVersion} cannot be downloaded here; taking one from the npm registry instead`);
  }
  const { base, compiler } = await getNpmBase(cacheFolder);
  say(`The base has the runtime ${npmBaseVersion}, and Deno ${npmCompilerVersion} compiles onto it`);
  say("It is good for tests; what is given to others is compiled where Deno can download its own base");
  const env = { DENORT_BIN: base, DENO_DIR: `${cacheFolder}/cache` };
  requireSuccess(await deno(compiler, compileArguments, env));
  return { runtime: npmBaseVersion, by: `compiled by Deno ${npmCompilerVersion} onto a base from npm` };
}

function deno(program: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<ProgramEnd> {
  return runProgram({ program, args, env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", ...env }, timeoutMs: stepMs });
}

function requireSuccess({ success, error }: ProgramEnd): void {
  if (!success) throw new Error(`deno compile failed: ${error.trim()}`);
}

async function isThere(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

function say(text: string): void {
  console.error(`compile: ${text}`);
}

function readChoice(args: readonly string[]): BaseChoice {
  const [flag, value] = args;
  if (flag === undefined) return "auto";
  const isKnown = value === "auto" || value === "download" || value === "npm";
  if (flag === "--base" && isKnown && args.length === 2) return value;
  throw new Error("Expected nothing, or --base with auto, download or npm");
}

if (import.meta.main) {
  try {
    say(await compile(readChoice(Deno.args)));
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    Deno.exitCode = 1;
  }
}
