import { runProgram } from "./compile/run_program.ts";

/**
 * Makes the certificates of `tests/outbound/certificates/` anew, with openssl: `deno run --no-prompt -A scripts/test_certificates.ts`.
 *
 * The key of the authority is thrown away: there can be no certificates under it but those in the folder.
 */
const folder = "tests/outbound/certificates";
/** Long ago, for machines whose clock is wrong; and long after. */
const valid = ["20250101000000Z", "20460101000000Z"] as const;
const past = ["20200101000000Z", "20210101000000Z"] as const;

/** The names of the tests' web that are called over TLS. */
const names = [
  ...["hook.test", "*.hook.test", "localhost"],
  ...["v6", "multi", "mixed", "dead", "blackhole", "flip", "rebind", "cname", "hosts"].map((name) => `${name}.test`),
];
/** Where the tests' servers are: on any machine, and in a network namespace of their own. */
const addresses = ["127.0.1.1", "::1", "93.184.216.34", "2606:4700::1111"];

const authorityExtensions = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n";
const leafExtensions = "basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\n";

/** A certificate that a server shows: the file, the common name, whom it speaks for, from when to when. */
interface Leaf {
  readonly file: string;
  readonly name: string;
  readonly speaksFor: readonly string[];
  readonly dates?: readonly [string, string];
  readonly isSelfSigned?: boolean;
}

const leaves: readonly Leaf[] = [
  { file: "good", name: "hook.test", speaksFor: names.map((name) => `DNS:${name}`) },
  { file: "wrong_name", name: "other.test", speaksFor: ["DNS:other.test"] },
  { file: "addresses", name: "addresses", speaksFor: addresses.map((address) => `IP:${address}`) },
  { file: "common_name", name: "hook.test", speaksFor: [] },
  { file: "expired", name: "hook.test", speaksFor: ["DNS:hook.test"], dates: past },
  { file: "self_signed", name: "hook.test", speaksFor: ["DNS:hook.test"], isSelfSigned: true },
];

async function make(work: string): Promise<void> {
  const authority = { key: `${work}/ca.key`, certificate: `${folder}/ca.pem` };
  await startBooks(work);
  await makeKey(authority.key);
  await sign(work, {
    ...{ key: authority.key, name: "Tests of the outbound door", out: authority.certificate },
    ...{ extensions: authorityExtensions, dates: valid, by: ["-selfsign", "-keyfile", authority.key] },
  });
  for (const { file, name, speaksFor, dates = valid, isSelfSigned = false } of leaves) {
    const key = `${folder}/${file}.key`;
    await makeKey(key);
    const extensions = leafExtensions + (speaksFor.length === 0 ? "" : `subjectAltName=${speaksFor.join(",")}\n`);
    const by = isSelfSigned
      ? ["-selfsign", "-keyfile", key]
      : ["-cert", authority.certificate, "-keyfile", authority.key];
    await sign(work, { key, name, out: `${folder}/${file}.pem`, extensions, dates, by });
  }
}

/** `openssl ca` keeps books, and it alone takes dates. */
async function startBooks(work: string): Promise<void> {
  await Deno.writeTextFile(`${work}/index.txt`, "");
  const books = [
    ...["[ca]", "default_ca=books", "[books]"],
    ...[`new_certs_dir=${work}`, `database=${work}/index.txt`, "rand_serial=yes", "unique_subject=no"],
    ...["default_md=sha256", "policy=any", "[any]", "commonName=supplied", ""],
  ];
  await Deno.writeTextFile(`${work}/books.cnf`, books.join("\n"));
}

/** What is signed, and the arguments that say by whom. */
interface Signing {
  readonly key: string;
  readonly name: string;
  readonly extensions: string;
  readonly dates: readonly [string, string];
  readonly by: readonly string[];
  readonly out: string;
}

async function sign(work: string, { key, name, extensions, dates, by, out }: Signing): Promise<void> {
  const [request, extensionsFile] = [`${work}/request.csr`, `${work}/extensions`];
  await Deno.writeTextFile(extensionsFile, extensions);
  await openssl(["req", "-new", "-key", key, "-subj", `/CN=${name}`, "-out", request]);
  await openssl([
    ...["ca", "-batch", "-notext", "-config", `${work}/books.cnf`, ...by, "-in", request],
    ...["-extfile", extensionsFile, "-startdate", dates[0], "-enddate", dates[1], "-out", out],
  ]);
}

async function makeKey(path: string): Promise<void> {
  await openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path]);
}

async function openssl(args: readonly string[]): Promise<void> {
  const { success, error } = await runProgram({ program: "openssl", args, timeoutMs: 30_000 });
  if (!success) throw new Error(`openssl ${args[0]} failed: ${error.trim()}`);
}

const work = await Deno.makeTempDir({ prefix: "volcanic-a2a-" });
try {
  await make(work);
} finally {
  await Deno.remove(work, { recursive: true });
}
