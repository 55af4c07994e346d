/** Where the bundle is put; git-ignored. */
export const bundleFolder = "dist";
/** The executable; git-ignored. */
export const outputPath = "bin/volcanic-a2a";

/**
 * The arguments of `deno bundle`. With its two entry points the bundle is `main.js`, `src/host_worker.js`, and what they
 * share in chunks beside `main.js`.
 */
export function bundleArguments(entries: readonly string[]): readonly string[] {
  return ["bundle", "--quiet", "--platform", "deno", "--code-splitting", "--outdir", bundleFolder, ...entries];
}

/**
 * The arguments of `deno compile` (compile.md "Shape").
 *
 * The rights are those of the main thread; the worker gets less. `no-legacy-abort` is what deno.json says for `deno run`,
 * which `--no-config` leaves out: the two must not differ.
 */
export const compileArguments: readonly string[] = [
  ...["compile", "--quiet", "--no-config"],
  "--no-check", // the sources were; in the bundle, comments of packages name files as types that are not there
  "--no-prompt", // else a refused path asks on the owner's terminal, and the host stands still until somebody answers
  "--no-code-cache", // else code is read from /tmp/deno-compile-<name>.cache, whoever wrote it
  ...["--allow-read", "--allow-write", "--allow-net", "--allow-run", "--allow-env", "--allow-sys=hostname,statfs,uid"],
  ...["--unstable-worker-options", "--unstable-no-legacy-abort"],
  ...["--include", bundleFolder, "--output", outputPath, `${bundleFolder}/main.js`],
];

/** Says whether `deno compile` failed because its base could not be downloaded, and for no other reason. */
export function isBaseUnreachable(error: string): boolean {
  return /Setting up base binary/i.test(error) && /error sending request|dl\.deno\.land|Download/i.test(error);
}
