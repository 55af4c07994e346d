/** A real folder that is removed when disposed of. */
export async function makeTempFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await Deno.realPath(await Deno.makeTempDir({ prefix: "volcanic-a2a-" }));
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
