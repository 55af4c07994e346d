import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { readTree } from "./source_tree.ts";
import { checkTree } from "./tidy.ts";

/** Every way to a socket that is not the door's: path, line, what is found. */
const sockets: readonly (readonly [path: string, text: string, finds: RegExp])[] = [
  ["src/time/a.ts", "await fetch(url);", /fetch away from its home outbound\//],
  ["src/time/a.ts", "await globalThis.fetch(url);", /fetch away/],
  ["src/time/a.ts", "self.fetch(url);", /fetch away/],
  ["src/time/a.ts", "globalThis?.fetch(url);", /fetch away/],
  ["src/time/a.ts", "const f = fetch;", /fetch away/],
  ["src/time/a.ts", "send(fetch, url);", /fetch away/],
  ["src/time/a.ts", "const o = { fetch };", /fetch away/],
  ["src/time/a.ts", "const f = isMine ? fetch : mine;", /fetch away/],
  ["src/time/a.ts", "const f = isMine ? fetch(url) : mine;", /fetch away/],
  ["src/time/a.ts", 'globalThis["fetch"](url);', /globalThis away/],
  ["src/time/a.ts", "const g = globalThis;", /globalThis away/],
  ["src/time/a.ts", "const s = self as unknown as Scope;", /self away from its home host\/host_thread\.ts/],
  ["src/workspace/a.ts", "await Deno.connect({ port: 1 });", /Deno\.connect away/],
  ["src/workspace/a.ts", "await Deno.connectTls({ port: 1 });", /Deno\.connectTls away/],
  ["src/workspace/a.ts", "await Deno.startTls(c);", /Deno\.startTls away/],
  ["src/workspace/a.ts", 'await Deno.resolveDns(a, "A");', /Deno\.resolveDns away/],
  ["src/workspace/a.ts", "Deno.createHttpClient({});", /Deno\.createHttpClient away/],
  ["src/workspace/a.ts", "Deno.listenDatagram({});", /Deno\.listenDatagram away/],
  ["src/workspace/a.ts", "const { connect } = Deno;", /Deno which has no home; write Deno\.name/],
  ["src/workspace/a.ts", 'Deno["connect"]({ port: 1 });', /Deno which has no home/],
  ["src/workspace/a.ts", "new WebSocket(url);", /WebSocket away from its home outbound\//],
  ["src/workspace/a.ts", "const S = WebSocketStream;", /WebSocketStream away/],
  ["src/workspace/a.ts", "new EventSource(url);", /EventSource away/],
  ["src/workspace/a.ts", 'import net from "node:net";', /"node:net" away from its home outbound\//],
  ["src/workspace/a.ts", 'import tls from "node:tls";', /"node:tls" away/],
  ["src/workspace/a.ts", 'import http from "node:http";', /"node:http" away/],
  ["src/workspace/a.ts", 'import https from "node:https";', /"node:https" away/],
  ["src/workspace/a.ts", 'import http2 from "node:http2";', /"node:http2" away/],
  ["src/workspace/a.ts", 'const dns = await import("node:dns");', /"node:dns" away/],
  ["src/workspace/a.ts", 'import dns from "node:dns/promises";', /"node:dns\/promises" away/],
  ["src/workspace/a.ts", 'import udp from "node:dgram";', /"node:dgram" away/],
  ["src/workspace/a.ts", 'import { createRequire } from "node:module";', /"node:module" which has no home/],
  ["src/sessions/a.ts", 'globalThis.Deno["connect"]({ port: 1 });', /globalThis\.Deno which has no home/],
  ["src/sessions/a.ts", "const d = globalThis.Deno;", /globalThis\.Deno which has no home/],
  ["src/sessions/a.ts", "const { connect } = globalThis.Deno;", /globalThis\.Deno which has no home/],
  ["src/sessions/a.ts", "const d = globalThis?.Deno;", /globalThis\?\.Deno which has no home/],
  ["src/sessions/a.ts", 'globalThis.self["fetch"](url);', /globalThis\.self which has no home/],
  ["src/sessions/a.ts", "Reflect.get(globalThis.window, name);", /globalThis\.window which has no home/],
  ["src/sessions/a.ts", "globalThis.globalThis[name](url);", /globalThis\.globalThis which has no home/],
  ["src/sessions/a.ts", "const W = globalThis.Worker;", /globalThis\.Worker which has no home/],
  ["src/sessions/a.ts", "await Deno.openKv(url);", /Deno\.openKv away from its home outbound\//],
  ["src/sessions/a.ts", "Deno.dlopen(path, {});", /Deno\.dlopen away from its home outbound\//],
  ["src/sessions/a.ts", "Deno.core.ops.op_net_connect_tcp();", /Deno\.core away from its home outbound\//],
  ["src/sessions/a.ts", "new Worker(url);", /Worker away from its home cli\//],
  ["src/sessions/a.ts", "new Function(text)();", /Function which has no home/],
  ["src/sessions/a.ts", "eval(text);", /eval which has no home/],
  ["src/sessions/a.ts", 'import net from "net";', /"net" which has no home/],
  ["src/sessions/a.ts", 'import { request } from "undici";', /"undici" which has no home/],
  ["src/sessions/a.ts", 'import { connect } from "node:_tls_wrap";', /"node:_tls_wrap" which has no home/],
  ["src/sessions/a.ts", 'import { Agent } from "node:_http_agent";', /"node:_http_agent" which has no home/],
  ["src/sessions/a.ts", 'import inspector from "node:inspector";', /"node:inspector" which has no home/],
  ["src/sessions/a.ts", 'import cluster from "node:cluster";', /"node:cluster" which has no home/],
  ["src/sessions/a.ts", 'import threads from "node:worker_threads";', /"node:worker_threads" which has no home/],
  ["src/sessions/a.ts", 'import udp from "node:dgram/";', /"node:dgram\/" which has no home/],
  ["src/sessions/a.ts", 'export { connect } from "undici";', /"undici" which has no home/],
  ["src/sessions/a.ts", 'import { generateText } from "ai";', /"ai" away from its home engine\/llm\//],
  ["src/sessions/a.ts", 'const m = await import("node:" + name);', /no literal, which has no home/],
  ["src/sessions/a.ts", "const m = await import(name);", /no literal, which has no home/],
  ["src/sessions/a.ts", "const m = await import(`node:${name}`);", /no literal, which has no home/],
  ["src/sessions/a.ts", 'const m = await import("undici");', /"undici" which has no home/],
];

Deno.test("checkTree() knows every way to a socket, of which the door has all [§13 one-door]", () => {
  for (const [path, text, finds] of sockets) {
    const found = checkTree(new Map([[path, `${text}\n`]]));
    match(found.join("\n"), finds, text);
    if (finds.source.includes("home outbound")) {
      deepStrictEqual(checkTree(new Map([["src/outbound/a.ts", `${text}\n`]])), []);
    }
  }
});

Deno.test("checkTree() takes what leads to no socket", () => {
  const texts = [
    'const m = await import("./b.ts");',
    "const m = await import('./b.ts');",
    'const m = await import("./b.json", { with: { type: "json" } });',
    'import { join } from "node:path";',
    'import { getLogger } from "@logtape/logtape";',
    "await crypto.subtle.importKey(a);",
    "const url = import.meta.resolve(name);",
    "globalThis.crypto.subtle;",
    "store.import(name);",
  ];
  for (const text of texts) deepStrictEqual(checkTree(new Map([["src/sessions/a.ts", `${text}\n`]])), [], text);
});

Deno.test("checkTree() lets each folder import the modules whose home it is", () => {
  const homes = [["engine/llm", "ai"], ["server/http", "hono"], ["cli", "@optique/core"], ["workspace", "node:crypto"]];
  for (const [folder, name] of homes) {
    const text = `import { a } from "${name}";\n`;
    deepStrictEqual(checkTree(new Map([[`src/${folder}/a.ts`, text]])), []);
    strictEqual(checkTree(new Map([["src/time/a.ts", text]])).length, 1);
  }
});

Deno.test("checkTree() finds no way to a socket in the program but the door's [§13 one-door]", async () => {
  const found = checkTree(await readTree(["src"], /\.ts$/));
  deepStrictEqual(found.filter((violation) => /through outbound|has no home/.test(violation)), []);
});
