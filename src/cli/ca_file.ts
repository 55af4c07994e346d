import { X509Certificate } from "node:crypto";
import type { Disk } from "@/workspace/disk.ts";

const caFileBytesMax = 4 * 1024 * 1024;

/** What `CaFile` holds, or why that is no use. */
export type CaFile =
  | { readonly kind: "certificates"; readonly caCerts: readonly string[] }
  | { readonly kind: "problem"; readonly message: string };

/**
 * Reads the certificates that are trusted besides the usual ones; none without a path. Here and not in the host, which may read
 * its workspaces only. A file that is no use is told at the start: later every exchange would fail for it.
 */
export function readCaFile(path: string | undefined, disk: Disk): CaFile {
  if (path === undefined) return { kind: "certificates", caCerts: [] };
  const problem = (why: string): CaFile => ({ kind: "problem", message: `Cannot read ${path} of CaFile: ${why}` });
  let text: string;
  try {
    const stamp = disk.stampSync(path);
    if (stamp === undefined) return problem("there is no such file");
    if (stamp.kind !== "file") return problem("it is no file");
    if (stamp.bytes > caFileBytesMax) return problem("it is larger than 4 MiB");
    using file = disk.openReadSync(path);
    text = new TextDecoder().decode(file.readSync(caFileBytesMax));
  } catch (error) {
    return problem((error as Error).message);
  }
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) return problem("it holds no certificate in PEM (-----BEGIN CERTIFICATE-----)");
  const bad = blocks.findIndex((block) => !isCertificate(block));
  if (bad !== -1) return problem(`certificate ${bad + 1} in it is broken`);
  return { kind: "certificates", caCerts: blocks };
}

function isCertificate(block: string): boolean {
  try {
    return new X509Certificate(block).subject !== undefined;
  } catch {
    return false;
  }
}
