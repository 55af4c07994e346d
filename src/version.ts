import manifest from "@manifest" with { type: "json" };

/** The version of this program, from `deno.json`. */
export const version: string = manifest.version;
