import { join } from "node:path";
import type { Disk } from "@/workspace/disk.ts";

/** What of the machine is in every box, and the two programs that make one. */
export interface BoxSystem {
  readonly bwrap: string;
  readonly prlimit: string;
  /** Folders of the root that lead into `/usr`. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Folders of programs and libraries that are not below `/usr`, absolute. */
  readonly folders: readonly string[];
}

/** Why there can be no box. */
export interface NoBox {
  readonly kind: "none";
  readonly why: string;
}

/** Looks where the programs are and how the machine's root is laid out. */
export async function findBoxSystem(disk: Disk): Promise<BoxSystem | NoBox> {
  if (Deno.build.os !== "linux") return { kind: "none", why: "there is no bwrap on this system" };
  const [bwrap, prlimit] = ["bwrap", "prlimit"].map((name) => findProgram(name, disk));
  if (bwrap === undefined) return { kind: "none", why: "bwrap is not installed; its package is called bubblewrap" };
  if (prlimit === undefined) return { kind: "none", why: "prlimit is not installed; its package is called util-linux" };
  const links: { path: string; target: string }[] = [];
  const folders: string[] = [];
  for (const name of ["bin", "sbin", "lib", "lib32", "lib64", "libx32"]) {
    const path = `/${name}`;
    const kind = disk.linkStampSync(path)?.kind;
    const target = kind === "link" ? await disk.realPath(path) : undefined;
    if (target?.startsWith("/usr/")) links.push({ path, target: target.slice(1) });
    else if (kind === "folder") folders.push(path);
  }
  if (disk.stampSync("/nix/store")?.kind === "folder") folders.push("/nix/store");
  return { bwrap, prlimit, links, folders };
}

/** The machine's own folders only: what a user put into the path is not asked to hold others. */
const programFolders: readonly string[] = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

function findProgram(name: string, disk: Disk): string | undefined {
  return programFolders.map((folder) => join(folder, name)).find((path) => disk.stampSync(path)?.kind === "file");
}
