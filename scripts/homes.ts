/** Calls that live in one place only. `home` holds paths in `src`: a folder ends in a slash. Tests are exempt. */
export const callsAtHome: readonly {
  readonly call: RegExp;
  readonly home: readonly string[];
  readonly cure: string;
}[] = [
  { call: /(?<![\w$#])fetch\b(?:\s*\()?/g, home: ["outbound/"], cure: "send through outbound/" },
  {
    call:
      /\bDeno\s*\??\.\s*(?:connect|connectTls|connectQuic|startTls|resolveDns|createHttpClient|listenDatagram|QuicEndpoint|openKv|dlopen|core|internal)\b/g,
    home: ["outbound/"],
    cure: "send through outbound/",
  },
  {
    call: /(?<![\w$#])(?:WebSocket|WebSocketStream|EventSource|WebTransport|XMLHttpRequest)\b/g,
    home: ["outbound/"],
    cure: "send through outbound/",
  },
  { call: /(?<![\w$#])(?:Worker|SharedWorker)\s*\(/g, home: ["cli/"], cure: "ask the main thread for a worker" },
  { call: /(?<![\w$#.])(?:eval|Function)\s*\(/g, home: [], cure: "write the code where it runs" },
  // Under another name, none of the rows could see what is called.
  { call: /(?<![\w$#.])Deno\b(?!\s*\??\.\s*[\w$])/g, home: [], cure: "write Deno.name where it is used" },
  {
    call: /(?<![\w$#.])(?:globalThis|window|self)\b(?!\s*\??\.\s*[\w$])/g,
    home: ["host/host_thread.ts"],
    cure: "write the name where it is used",
  },
  {
    call:
      /(?<![\w$#.])(?:globalThis|window|self)\s*\??\.\s*(?:Deno|globalThis|window|self|Function|eval|Worker|SharedWorker)\b/g,
    home: [],
    cure: "write the name where it is used",
  },
  { call: /\bDeno\.env\b|\bprocess\.env\b/g, home: ["config.ts"], cure: "make it a setting in config.ts" },
  {
    call: /(?<![\w$.])console\./g,
    home: ["cli/output.ts", "log.ts"],
    cure: "log through getLogger, or print through cli/output.ts",
  },
  {
    call:
      /\b(?:Date\.now|performance\.now|AbortSignal\.timeout|setTimeout|setInterval|setImmediate)\b|\bnew Date(?:\(\s*\)|\b(?!\s*\())|(?<!new )(?<![\w$.])Date\(/g,
    home: ["time/"],
    cure: "take a Clock",
  },
  {
    call: /\bMath\.random\b|\bcrypto\.(?:randomUUID|getRandomValues)\b/g,
    home: ["random.ts"],
    cure: "take a Random",
  },
  {
    call:
      /\bDeno\.(?:open|create|readFile|readTextFile|writeFile|writeTextFile|rename|remove|mkdir|readDir|stat|lstat|realPath|copyFile|truncate|symlink|link|readLink|makeTempDir|makeTempFile|chmod|chown|utime|umask|watchFs|FsFile)(?:Sync)?\b/g,
    home: ["workspace/disk.ts"],
    cure: "take a Disk",
  },
  { call: /\bDeno\.exit\b|\bself\.close\b|\bprocess\.exit\b/g, home: ["cli/cli.ts"], cure: "return an exit code" },
  { call: /\bDeno\.(?:Command|spawn)\b/g, home: ["cli/"], cure: "ask the main thread for a program" },
];

/** Where a module of Node or a package may be imported. */
export interface ForeignHome {
  /** Paths in `src`: a folder ends in a slash. */
  readonly home: readonly string[];
  readonly cure: string;
}

const anywhere = undefined;
const sockets: ForeignHome = { home: ["outbound/"], cure: "send through outbound/" };
const disk: ForeignHome = { home: ["workspace/disk.ts"], cure: "take a Disk" };
const timers: ForeignHome = { home: ["time/"], cure: "take a Clock" };
const models: ForeignHome = { home: ["engine/llm/"], cure: "ask the engine" };
const hashes: ForeignHome = { home: ["workspace/", "cli/"], cure: "take what workspace/ makes of it" };
const parsers: ForeignHome = { home: ["cli/"], cure: "read arguments in cli/" };
const unlisted: ForeignHome = { home: [], cure: "send through outbound/, or give it a home in scripts/homes.ts" };

/** What is not among them has no home: any other could open a socket. */
const foreign: Readonly<Record<string, ForeignHome | undefined>> = {
  "@logtape/logtape": anywhere,
  "@manifest": { home: ["version.ts"], cure: "import version.ts" },
  "node:path": anywhere,
  "node:async_hooks": { home: ["log.ts"], cure: "pass it in" },
  "node:child_process": { home: ["cli/"], cure: "ask the main thread for a program" },
  "node:crypto": hashes,
  "node:fs": disk,
  "node:fs/promises": disk,
  "node:process": { home: ["host/empty_environment.ts"], cure: "use the seam that owns it: config.ts, cli/output.ts" },
  "node:timers": timers,
  "node:timers/promises": timers,
  "node:util": disk,
  ...Object.fromEntries(
    ["http", "https", "http2", "net", "tls", "dns", "dns/promises", "dgram", "quic"].map((name) =>
      [`node:${name}`, sockets] as const
    ),
  ),
  "@ai-sdk/anthropic": models,
  "@ai-sdk/google": models,
  "@ai-sdk/openai": models,
  "@ai-sdk/openai-compatible": models,
  "ai": models,
  "zod": models,
  "@optique/core": parsers,
  "@optique/core/facade": parsers,
  "hono": { home: ["server/http/"], cure: "answer in server/http/" },
  "re2js": { home: ["workspace/"], cure: "match through workspace/" },
};

/** Where a module that is not the project's may be imported; undefined for one that may be everywhere. */
export function foreignHome(specifier: string): ForeignHome | undefined {
  return Object.hasOwn(foreign, specifier) ? foreign[specifier] : unlisted;
}
