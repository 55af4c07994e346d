import { deepStrictEqual, match, rejects, strictEqual } from "node:assert/strict";
import { takeLog } from "@tests/fakes/log_lines.ts";
import { withPatience } from "@tests/fakes/patience.ts";
import { startPlainServer } from "@tests/fakes/plain_server.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { parseAddressRange } from "@/address_range.ts";
import { Outbound, type OutboundOptions } from "./outbound.ts";

const bounds = { bytesMax: 1000, totalMs: 60_000 };
const ofAnn = { ...bounds, caller: "ann" };
const okAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const ranges = (...texts: readonly string[]) => texts.map((text) => parseAddressRange(text)!);

const patienceMs = 5_000;

/** A door for which every name leads to `addresses`, and whose clock stands still. */
function makeDoor(options: Partial<OutboundOptions> & { readonly addresses?: readonly string[] } = {}) {
  const clock = createTestClock();
  const asked: unknown[] = [];
  const attempts: string[] = [];
  const door = new Outbound({
    clock,
    lookup(name, { isAbsolute }) {
      asked.push([name, isAbsolute]);
      return Promise.resolve(options.addresses ?? ["127.0.0.1"]);
    },
    onAttempt: (address) => attempts.push(address),
    ...options,
  });
  return { door, clock, asked, attempts };
}

/** The level of a line, and what it says. */
const said = (line: string) => line.replace(/^\S+ (\w+) +\S+ /, "$1 ");

Deno.test("guarded() logs a name that it refuses by host and kind of address, and by nothing else [§13 refusals-logged]", async () => {
  using log = takeLog("warning");
  const { door, asked, attempts } = makeDoor({ addresses: ["127.0.0.1", "10.0.0.1", "10.0.0.2"] });
  const url = "https://hook.test/secret-path?token=s3cret";
  const headers = { authorization: "Bearer s3cret" };
  await rejects(door.guarded(url, { ...ofAnn, headers }), { code: "ADDRESS_FORBIDDEN", phase: "policy" });
  deepStrictEqual(log.lines.map(said), ["warning Refused to send to hook.test: its address is loopback, private"]);
  deepStrictEqual([asked, attempts], [[["hook.test", true]], []]);
});

Deno.test("guarded() logs an address in a URL that it refuses, without a look-up or a place [§13 refusals-logged]", async () => {
  using log = takeLog("warning");
  const { door, asked } = makeDoor({ limits: { exchangesMax: 0 } });
  await rejects(door.guarded("https://[::ffff:7f00:1]:8443/s3cret", ofAnn), {
    code: "ADDRESS_FORBIDDEN",
    phase: "policy",
  });
  deepStrictEqual(log.lines.map(said), ["warning Refused to send to ::ffff:7f00:1: its address is v4-mapped"]);
  deepStrictEqual(asked, []);
});

Deno.test("guarded() skips a forbidden address of a name, logs its kind, and never connects to it [§13 refusals-logged]", async () => {
  using log = takeLog("warning");
  await using server = startPlainServer("HTTP/1.1 400 This is no TLS\r\n\r\n");
  const { door, attempts } = makeDoor({ addresses: ["10.0.0.1", "127.0.0.1"], allow: ranges("127.0.0.1") });
  await rejects(door.guarded(`https://hook.test:${server.port}/s3cret`, ofAnn), { code: "TLS_FAILED", phase: "tls" });
  deepStrictEqual(log.lines.map(said), ["warning Skipped an address of hook.test: it is private"]);
  deepStrictEqual(attempts, ["127.0.0.1"]);
});

Deno.test("guarded() hangs up before a byte when another one is there than was judged, and logs an error [§13 refusals-logged]", async () => {
  using log = takeLog("warning");
  await using server = startPlainServer(okAnswer);
  const { door } = makeDoor({ addresses: ["0.0.0.0"], allow: ranges("0.0.0.0") });
  await rejects(door.guarded(`https://hook.test:${server.port}/s3cret`, ofAnn), {
    code: "PEER_MISMATCH",
    phase: "connect",
  });
  deepStrictEqual(log.lines.map(said), ["error Connected to hook.test and hung up: who is there is loopback"]);
  deepStrictEqual(server.requests, []);
});

Deno.test("guarded() logs nothing for what goes well, and for a URL that is none", async () => {
  using log = takeLog("warning");
  await using server = startPlainServer(okAnswer);
  const { door, clock } = makeDoor({ allowPrivate: true });
  const response = await door.guarded(`http://hook.test:${server.port}/`, ofAnn);
  deepStrictEqual([await response.text(), response.peer.address], ["hello", "127.0.0.1"]);
  await rejects(door.guarded("https://u:p@hook.test/", ofAnn), { code: "USERINFO_FORBIDDEN" });
  deepStrictEqual([log.lines, clock.pending], [[], 0]);
});

Deno.test("guarded() drops answers that are no addresses, and asks for each once", async () => {
  const { door } = makeDoor({ addresses: ["fe80::1%lo", "127.1", "localhost", "", "0x7f.0.0.1"] });
  await rejects(door.guarded("https://hook.test/", ofAnn), { code: "DNS_NOT_FOUND", phase: "dns" });
  const twice = makeDoor({ addresses: ["127.0.0.1", "127.0.0.1", "127.000.0.1"], allowPrivate: true });
  await rejects(twice.door.guarded("http://hook.test:1/", ofAnn), { code: "PORT_FORBIDDEN" });
  await rejects(twice.door.guarded("http://hook.test:2/", ofAnn), { code: "CONNECT_FAILED" });
  deepStrictEqual(twice.attempts, ["127.0.0.1"]);
});

Deno.test("guarded() takes http only when private addresses are allowed, and never metadata", async () => {
  const [closed, open] = [makeDoor().door, makeDoor({ allowPrivate: true, addresses: ["169.254.169.254"] }).door];
  await rejects(closed.guarded("http://hook.test/", ofAnn), { code: "SCHEME_FORBIDDEN" });
  await rejects(open.guarded("http://hook.test/", ofAnn), { code: "ADDRESS_FORBIDDEN" });
  await rejects(open.guarded("http://[::ffff:127.0.0.1]/", ofAnn), { code: "ADDRESS_FORBIDDEN" });
});

Deno.test("guarded() says that a look-up took too long, or failed", async () => {
  const slow = makeDoor({ lookup: () => new Promise(() => {}) });
  const late = rejects(slow.door.guarded("https://hook.test/", ofAnn), { code: "DNS_TIMEOUT", phase: "dns" });
  await slow.clock.advance(5_000);
  await late;
  strictEqual(slow.clock.pending, 0);
  const broken = makeDoor({ lookup: () => Promise.reject(new Error("broken")) });
  await rejects(broken.door.guarded("https://hook.test/", ofAnn), { code: "DNS_FAILED", phase: "dns" });
});

Deno.test("guarded() counts by host and by caller, agent() only among all [§13 exchanges-max]", async () => {
  await using server = startPlainServer();
  const limits = { exchangesMax: 5, perHostMax: 2, perCallerMax: 2, perCallerHostMax: 1 };
  const { door, clock } = makeDoor({ allowPrivate: true, limits });
  await using _closed = door;
  const url = (host: string) => `http://${host}:${server.port}/`;
  const ended: Promise<unknown>[] = [];
  const go = (sending: Promise<unknown>) => ended.push(rejects(sending, { code: "CLOSED" }));
  const patient = { ...bounds, headMs: 60_000 };
  const send = (host: string, caller: string) => door.guarded(url(host), { ...patient, caller });
  const isBusy = (sending: Promise<unknown>) =>
    withPatience(rejects(sending, { code: "BUSY", phase: "wait" }), patienceMs);
  const agent = () => door.agent(url("a.test"), { ...patient, origin: "http://a.test", allowPrivate: true });

  go(send("a.test", "ann"));
  await server.came(1);
  const again = isBusy(send("A.TEST.", "ann"));
  await clock.advance(10_000);
  await again;
  go(send("a.test", "bob"));
  go(send("b.test", "ann"));
  await withPatience(server.came(3), patienceMs);
  const full = [isBusy(send("a.test", "cat")), isBusy(send("c.test", "ann"))];
  await clock.advance(10_000);
  await Promise.all(full);
  go(agent());
  go(agent());
  await withPatience(server.came(5), patienceMs);
  const last = isBusy(agent());
  await clock.advance(10_000);
  await last;
  await door[Symbol.asyncDispose]();
  await Promise.all(ended);
  strictEqual(clock.pending, 0);
});

Deno.test("guarded() waits for its turn as long as its request says [§13 wait-bounded]", async () => {
  await using server = startPlainServer();
  const { door, clock } = makeDoor({ allowPrivate: true, limits: { exchangesMax: 1 } });
  await using _closed = door;
  const send = (waitMs?: number) => door.guarded(`http://hook.test:${server.port}/`, { ...ofAnn, waitMs });
  const first = rejects(send(), { code: "HEAD_TIMEOUT" });
  await server.came(1);
  const patient = rejects(send(40_000), { code: "CLOSED" });
  const hasty = withPatience(rejects(send(), { code: "BUSY" }), patienceMs);
  await clock.advance(10_000);
  await hasty;
  await clock.advance(20_000);
  await withPatience(Promise.all([first, server.came(2)]), patienceMs);
  await door[Symbol.asyncDispose]();
  await patient;
});

Deno.test("guarded() lets connections of TLS begin one after another, and nothing else wait for that", async () => {
  await using server = startPlainServer(okAnswer);
  const { door, clock, asked } = makeDoor({
    addresses: [],
    allowPrivate: true,
    limits: { tlsBegunMax: 1, exchangesMax: 2, waitingMax: 0 },
  });
  const secure = () => rejects(door.guarded("https://hook.test/", ofAnn), { code: "DNS_NOT_FOUND" });
  await secure();
  const stop = new AbortController();
  const stopped = door.guarded("https://hook.test/", { ...ofAnn, signal: stop.signal });
  const second = secure();
  stop.abort();
  await rejects(stopped, { code: "ABORTED", phase: "wait" });
  await using response = await door.guarded(`http://127.0.0.1:${server.port}/`, ofAnn);
  deepStrictEqual([response.status, asked.length], [200, 1]);
  await clock.advance(100);
  await second;
  deepStrictEqual(asked.length, 2);
});

Deno.test("Outbound ends what is under way with CLOSED when it is disposed of, and begins nothing more [§13 ends-whole]", async () => {
  await using server = startPlainServer("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello");
  const { door, clock } = makeDoor({ allowPrivate: true, limits: { exchangesMax: 1 } });
  const url = `http://hook.test:${server.port}/`;
  const response = await door.guarded(url, ofAnn);
  const waiting = rejects(door.guarded(url, ofAnn), { code: "CLOSED", phase: "wait" });
  await clock.settle();
  await door[Symbol.asyncDispose]();
  await waiting;
  await rejects(response.bytes(), { code: "CLOSED", phase: "body" });
  await rejects(door.guarded(url, ofAnn), { code: "CLOSED", phase: "wait" });
  await door[Symbol.asyncDispose]();
  strictEqual(clock.pending, 0);
});

Deno.test("agent() sends credentials to their origin and to no other [§13 credentials-home]", async () => {
  await using server = startPlainServer(okAnswer);
  const { door } = makeDoor();
  const here = `http://agent.test:${server.port}`;
  const rows = [
    { origin: here, isSent: true },
    { origin: `http://AGENT.test:${server.port}/a2a?x#y`, isSent: true },
    { origin: `https://agent.test:${server.port}`, isSent: false },
    { origin: "http://agent.test", isSent: false },
    { origin: `http://other.test:${server.port}`, isSent: false },
    { origin: `http://agent.test.:${server.port}`, isSent: false },
    { origin: `http://agent.test:${server.port}@evil.test`, isSent: false },
    { origin: `blob:${here}/0b7c927e`, isSent: false },
    { origin: `http://user:word@agent.test:${server.port}`, isSent: false },
    { origin: `http:\\\\agent.test:${server.port}`, isSent: false },
    { origin: ` ${here}`, isSent: false },
    { origin: `${here}\n`, isSent: false },
    { origin: "", isSent: false },
    { origin: "null", isSent: false },
  ];
  for (const { origin, isSent } of rows) {
    const request = {
      ...bounds,
      origin,
      allowPrivate: true,
      headers: { "x-a": "b" },
      credentials: { "x-key": "s3cret" },
    };
    await (await door.agent(`${here}/a2a`, request)).bytes();
    const text = server.requests.at(-1)!;
    match(text, /^GET \/a2a HTTP\/1\.1\r\n/);
    deepStrictEqual([text.includes("x-a: b\r\n"), text.includes("x-key: s3cret\r\n")], [true, isSent], origin);
  }
});

Deno.test("agent() lets credentials win over headers of their name, however it is written [§13 credentials-home]", async () => {
  await using server = startPlainServer(okAnswer);
  const { door } = makeDoor();
  const url = `http://agent.test:${server.port}/`;
  const headers = { AUTHORIZATION: "Bearer of-the-request", "x-a": "b" };
  const credentials = { Authorization: "Bearer s3cret" };
  const fieldsOf = async (origin: string) => {
    await (await door.agent(url, { ...bounds, origin, allowPrivate: true, headers, credentials })).bytes();
    return server.requests.at(-1)!.split("\r\n").filter((line) => /^(?:authorization|x-a):/i.test(line));
  };
  deepStrictEqual(await fieldsOf(url), ["Authorization: Bearer s3cret", "x-a: b"]);
  deepStrictEqual(await fieldsOf("http://other.test"), ["AUTHORIZATION: Bearer of-the-request", "x-a: b"]);
});

Deno.test("agent() takes a redirect for an answer, and follows it not", async () => {
  await using server = startPlainServer("HTTP/1.1 307 There\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n");
  const { door } = makeDoor();
  const url = `http://agent.test:${server.port}/`;
  const response = await door.agent(url, { ...bounds, origin: url, allowPrivate: true });
  deepStrictEqual([response.status, response.headers.get("location"), server.requests.length], [307, "/there", 1]);
});

Deno.test("agent() opens private addresses only when it is told to, and never link-local ones", async () => {
  using _log = takeLog("error");
  const { door } = makeDoor({ allowPrivate: true });
  const send = (url: string, allowPrivate: boolean) => door.agent(url, { ...bounds, origin: url, allowPrivate });
  await rejects(send("http://agent.test/", false), { code: "ADDRESS_FORBIDDEN" });
  await rejects(send("http://127.0.0.1/", false), { code: "ADDRESS_FORBIDDEN" });
  await rejects(send("http://169.254.169.254/", true), { code: "ADDRESS_FORBIDDEN" });
  await rejects(send("ftp://agent.test/", true), { code: "SCHEME_FORBIDDEN" });
});

Deno.test("agent() lets the network of the machine complete a short name, guarded() does not [§13 name-lookup]", async () => {
  const names = makeDoor({ addresses: [] });
  const own = { ...bounds, origin: "http://desk", allowPrivate: true };
  await rejects(names.door.agent("http://desk/", own), { code: "DNS_NOT_FOUND" });
  await rejects(names.door.agent("http://desk.home/", own), { code: "DNS_NOT_FOUND" });
  await rejects(names.door.guarded("https://desk/", ofAnn), { code: "DNS_NOT_FOUND" });
  deepStrictEqual(names.asked, [["desk", false], ["desk.home", true], ["desk", true]]);
});

Deno.test("disposing waits until what is at work with a socket is over, and refuses what comes later [§13 ends-whole]", async () => {
  const connecting = Promise.withResolvers<Deno.TcpConn>();
  const { connect } = Deno;
  const isConnecting = Promise.withResolvers<void>();
  Object.assign(Deno, {
    connect() {
      isConnecting.resolve();
      return connecting.promise; // deaf to its signal: the runtime takes its time
    },
  });
  try {
    const { door, clock } = makeDoor({ allowPrivate: true });
    const failing = rejects(door.guarded("http://hook.test/", ofAnn), { code: "CLOSED", phase: "connect" });
    await isConnecting.promise;
    let [isDisposed, isClosed] = [false, false];
    const disposing = door[Symbol.asyncDispose]().then(() => isDisposed = true);
    await clock.settle();
    strictEqual(isDisposed, false);
    connecting.resolve({ close: () => void (isClosed = true) } as Deno.TcpConn);
    await Promise.all([disposing, failing]);
    deepStrictEqual([isClosed, clock.pending], [true, 0]);
    await rejects(door.guarded("http://hook.test/", ofAnn), { code: "CLOSED", phase: "wait" });
  } finally {
    Object.assign(Deno, { connect });
  }
});

Deno.test("problemWith() sees what is wrong with a URL, an address in it included, and logs nothing [§13 url-form]", () => {
  using log = takeLog("warning");
  const { door, asked } = makeDoor({ deny: ranges("93.184.216.0/24") });
  const codeOf = (url: string) => door.problemWith(url)?.code;
  const rows = [
    ["https://hook.test/", undefined],
    ["https://localhost/", undefined],
    ["https://8.8.8.8/", undefined],
    ["https://127.0.0.1/", "ADDRESS_FORBIDDEN"],
    ["https://2130706433/", "ADDRESS_FORBIDDEN"],
    ["https://[::1]/", "ADDRESS_FORBIDDEN"],
    ["https://93.184.216.34/", "ADDRESS_FORBIDDEN"],
    ["http://hook.test/", "SCHEME_FORBIDDEN"],
    ["https://hook.test:25/", "PORT_FORBIDDEN"],
    ["https://u@hook.test/", "USERINFO_FORBIDDEN"],
    ["nonsense", "URL_INVALID"],
  ] as const;
  deepStrictEqual(rows.map(([url]) => [url, codeOf(url)]), rows.map((row) => [...row]));
  deepStrictEqual([log.lines, asked], [[], []]);
  strictEqual(makeDoor({ allowPrivate: true }).door.problemWith("http://127.0.0.1/"), undefined);
});
