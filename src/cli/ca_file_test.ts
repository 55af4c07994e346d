import { deepStrictEqual, match, ok } from "node:assert/strict";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { readCaFile } from "./ca_file.ts";

const certificate = `-----BEGIN CERTIFICATE-----
MIIBcDCCARWgAwIBAgIUKRXO0F+43jE24UV60RaWqYnu8SkwCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBYTAgFw0yNjExMzAwMzIzMTRaGA8yMTI2MTEwNjAzMjMxNFow
DDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGVKdSEz66mW
5VYoMr26wlPuth8LthuxrFEUV6B4Te5jzUy9uA5D/qO8e+AAFsSmX0mnGPSQ2ARk
Ys8f9TBFEZqjUzBRMB0GA1UdDgQWBBR4CGOdLsAEw3bgQSWYTpsj4WDC3jAfBgNV
HSMEGDAWgBR4CGOdLsAEw3bgQSWYTpsj4WDC3jAPBgNVHRMBAf8EBTADAQH/MAoG
CCqGSM49BAMCA0kAMEYCIQCJ8bj8hiVKqO/wg2ZRWE7YOqQEw2RcpdybisNFYAza
vgIhAIFcencHMZ8k6satMppTncfBFQqxoBqUdD8/Ez9eQS90
-----END CERTIFICATE-----`;

async function read(content: string | Uint8Array | undefined) {
  await using temp = await makeTempFolder();
  const path = `${temp.path}/ca.pem`;
  if (content !== undefined) {
    await Deno.writeFile(path, typeof content === "string" ? new TextEncoder().encode(content) : content);
  }
  return readCaFile(path, createDisk(systemClock));
}

Deno.test("readCaFile() gives each certificate of a bundle, and nothing of what stands around them", async () => {
  const text = `# ours\n${certificate}\n\nnotes - of all kinds\n${certificate}\n`;
  deepStrictEqual(await read(text), { kind: "certificates", caCerts: [certificate, certificate] });
});

Deno.test("readCaFile() gives none without a path", () => {
  deepStrictEqual(readCaFile(undefined, createDisk(systemClock)), { kind: "certificates", caCerts: [] });
});

const useless: readonly (readonly [name: string, content: string | Uint8Array | undefined, why: RegExp])[] = [
  ["is not there", undefined, /there is no such file$/],
  ["is empty", "", /holds no certificate/],
  ["holds a key only", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", /holds no certificate/],
  ["holds no text", new Uint8Array([0x30, 0x82, 0xff]), /holds no certificate/],
  ["is cut off", certificate.slice(0, -10), /holds no certificate/],
  [
    "holds a broken certificate",
    `${certificate}\n${certificate.replace(/MII./, "AAAA")}`,
    /certificate 2 in it is broken$/,
  ],
  ["is very large", "x".repeat(4 * 1024 * 1024 + 1), /larger than 4 MiB$/],
];

for (const [name, content, why] of useless) {
  Deno.test(`readCaFile() says in one line why a file is no use that ${name} [§13 ca-file]`, async () => {
    const file = await read(content);
    ok(file.kind === "problem");
    match(file.message, /^Cannot read \/.*ca\.pem of CaFile: [^\n]+$/);
    match(file.message, why);
  });
}

Deno.test("readCaFile() says in one line that a folder is no file [§13 ca-file]", async () => {
  await using temp = await makeTempFolder();
  const file = readCaFile(temp.path, createDisk(systemClock));
  ok(file.kind === "problem");
  match(file.message, /it is no file$/);
});
