/** Reads the files below some folders, and files named themselves, whose path fits: path to text. Missing ones are none. */
export async function readTree(roots: readonly string[], fits: RegExp): Promise<Map<string, string>> {
  const tree = new Map<string, string>();
  for (const root of roots) {
    const info = await Deno.stat(root).catch(() => undefined);
    if (info?.isFile) tree.set(root, await Deno.readTextFile(root));
    if (!info?.isDirectory) continue;
    const below: string[] = [];
    for await (const { name } of Deno.readDir(root)) below.push(`${root}/${name}`);
    const isFolder = (path: string) => Deno.statSync(path).isDirectory;
    const wanted = below.filter((path) => fits.test(path) || isFolder(path)).sort();
    for (const [path, text] of await readTree(wanted, fits)) tree.set(path, text);
  }
  return tree;
}
