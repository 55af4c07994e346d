import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { downloadFolder as folder, makeDownloads } from "@tests/fakes/download_setting.ts";
import { takeLog } from "@tests/fakes/log_lines.ts";
import type { ScriptedAnswer } from "@tests/fakes/scripted_outbound.ts";
import type { OutboundCode } from "@/outbound/outbound_error.ts";
import type { UrlPart } from "./prompt_parts.ts";

const url = "https://files.example/a/report.pdf?key=k";
const mebibytes = (count: number) => count * 1024 * 1024;

Deno.test("fetchFiles() fetches through the guarded door, for the caller, within its limits [§5.6 url-fetched, §5.6 url-guarded]", async () => {
  await using setting = await makeDownloads();
  setting.outbound.answer(url, { body: ["one ", "two"] });
  const fetched = await setting.fetch([{ url }]);
  ok(fetched.kind === "fetched");
  const file = { path: `${folder}/report.pdf`, mediaType: "application/pdf", bytes: 7 };
  deepStrictEqual([...fetched.files.values()], [file]);
  deepStrictEqual(await setting.files(), { [file.path]: "one two" });
  strictEqual((await Deno.stat(`${setting.root}/${file.path}`)).mode! & 0o777, 0o600);
  const { signal } = setting.abort;
  const limits = { bytesMax: 1000, totalMs: 600_000, waitMs: 600_000, headMs: 30_000, idleMs: 30_000 };
  deepStrictEqual(setting.outbound.requests, [{ url, caller: "alice", signal, ...limits }]);
  strictEqual(setting.outbound.open, 0);
  strictEqual(setting.clock.pending, 0);
  strictEqual(setting.counters.snapshot()["downloads"], 1);
});

const disposition = (value: string) => ({ "content-disposition": value });
const names: readonly (readonly [part: Partial<UrlPart>, headers: Record<string, string>, kept: string])[] = [
  [{ filename: "mine.txt" }, disposition("attachment; filename=theirs.txt"), "mine.txt"],
  [{}, disposition("attachment; filename=theirs.txt"), "theirs.txt"],
  [{}, disposition("attachment; filename=a.txt; filename*=UTF-8''%C3%A9.txt"), "\u00e9.txt"],
  [{}, disposition('attachment; filename="../../.volcanic/a2a/callers.json"'), "callers.json"],
  [{}, disposition('attachment; filename=".."'), "file"],
  [{}, disposition("attachment; filename=con.txt"), "_con.txt"],
  [{}, disposition("attachment"), "report.pdf"],
  [{}, {}, "report.pdf"],
  [{ url: "https://files.example/a%20%C3%A9.txt" }, {}, "a \u00e9.txt"],
  [{ url: "https://files.example/..%2f..%2fetc%2fpasswd" }, {}, "passwd"],
  [{ url: "https://files.example/%ff.txt" }, {}, "_ff.txt"],
  [{ url: "https://files.example/" }, {}, "file"],
  [{ url: "https://files.example/a/?file=x.txt" }, {}, "file"],
];

for (const [part, headers, kept] of names) {
  const title = `fetchFiles() calls the file ${kept} for ${JSON.stringify({ ...part, ...headers })} [§5.6 url-name]`;
  Deno.test(title, async () => {
    await using setting = await makeDownloads();
    setting.outbound.answer(part.url ?? url, { headers, body: "x" });
    strictEqual((await setting.fetch([{ url, ...part }])).kind, "fetched");
    deepStrictEqual(await setting.files(), { [`${folder}/${kept}`]: "x" });
  });
}

const types: readonly (readonly [part: Partial<UrlPart>, contentType: string | undefined, type: string])[] = [
  [{ mediaType: "text/csv; header=present" }, "text/plain", "text/csv; header=present"],
  [{}, "Text/HTML; charset=utf-8", "text/html"],
  [{}, "no type]\u00e9", "application/pdf"],
  [{}, undefined, "application/pdf"],
  [{ filename: "x.unknown" }, undefined, "application/octet-stream"],
];

for (const [part, contentType, type] of types) {
  Deno.test(`fetchFiles() takes ${type} for ${JSON.stringify(part)} answered as ${contentType} [§5.6 url-type]`, async () => {
    await using setting = await makeDownloads();
    setting.outbound.answer(url, { headers: contentType === undefined ? {} : { "content-type": contentType } });
    const fetched = await setting.fetch([{ url, ...part }]);
    strictEqual(fetched.kind === "fetched" && [...fetched.files.values()][0]?.mediaType, type);
  });
}

Deno.test("fetchFiles() fetches one after another, and gives clashing names a number, those that are there included", async () => {
  await using setting = await makeDownloads();
  await Deno.mkdir(`${setting.root}/${folder}`, { recursive: true });
  await Deno.writeTextFile(`${setting.root}/${folder}/REPORT.pdf`, "earlier");
  const first = Promise.withResolvers<void>();
  setting.outbound.answer(url, { body: [first.promise, "1"] }, { body: "2" }, { body: "" });
  const fetching = setting.fetch([{ url }, { url }, { url, filename: "empty.txt" }]);
  await setting.clock.settle();
  strictEqual(setting.outbound.requests.length, 1);
  first.resolve();
  ok((await fetching).kind === "fetched");
  deepStrictEqual(await setting.files(), {
    ...{ [`${folder}/REPORT.pdf`]: "earlier", [`${folder}/report-2.pdf`]: "1" },
    ...{ [`${folder}/report-3.pdf`]: "2", [`${folder}/empty.txt`]: "" },
  });
});

for (const headers of [{}, { "content-length": "1001" }] as readonly Record<string, string>[]) {
  const title = `fetchFiles() keeps nothing over the limit, with ${JSON.stringify(headers)} [§5.6 url-limits]`;
  Deno.test(title, async () => {
    await using setting = await makeDownloads();
    setting.outbound.answer(url, { headers, body: ["x".repeat(1000), "y"] });
    const message = await setting.failing([{ url }]);
    strictEqual(message, 'file "report.pdf" has more than 1000 bytes, the limit is 1000');
    ok(Object.keys(await setting.files()).every((path) => path.endsWith("/")));
    strictEqual(setting.outbound.open, 0);
  });
}

Deno.test("fetchFiles() keeps a file that is just at the limit", async () => {
  await using setting = await makeDownloads();
  setting.outbound.answer(url, { headers: { "content-length": "1000" }, body: ["x".repeat(999), "y"] });
  strictEqual((await setting.fetch([{ url }])).kind, "fetched");
});

Deno.test("fetchFiles() fetches at most 256 MiB for one message, whatever one file may have [§5.6 url-limits]", async () => {
  await using setting = await makeDownloads();
  setting.outbound.answer(url, { body: "x" }, { headers: { "content-length": `${mebibytes(256)}` } });
  const message = await setting.failing([{ url }, { url }], { fileBytesMax: Infinity });
  strictEqual(message, 'Cannot fetch file "report.pdf": the files of one message may have 268435456 bytes in all');
  const asked = setting.outbound.requests.map(({ bytesMax }) => bytesMax);
  deepStrictEqual(asked, [mebibytes(256), mebibytes(256) - 1]);
  deepStrictEqual(await setting.files(), { "inbox/alice/": "" });
});

Deno.test("fetchFiles() fetches at most 10 minutes for one message [§5.6 url-limits]", async () => {
  await using setting = await makeDownloads();
  const { clock, outbound } = setting;
  const pauses = Array.from({ length: 24 }, (_, n) => [clock.sleep(29_000 * (n + 1)), "x"]);
  outbound.answer(url, { body: pauses.slice(0, 5).flat() }, { body: pauses.slice(5).flat() });
  const failing = setting.failing([{ url, filename: "one" }, { url, filename: "two" }, { url }]);
  await clock.advance(600_000);
  strictEqual(await failing, 'Cannot fetch file "two": the files of one message may take 10 min in all');
  deepStrictEqual(outbound.requests.map(({ totalMs }) => totalMs), [600_000, 600_000 - 5 * 29_000]);
  deepStrictEqual(await setting.files(), { "inbox/alice/": "" });
});

Deno.test("fetchFiles() asks for nothing more when the time is over", async () => {
  await using setting = await makeDownloads();
  const { clock, outbound, disk } = setting;
  outbound.answer(url, { body: "x" });
  disk.rule({ on: "flush", until: clock.sleep(600_000) });
  const failing = setting.failing([{ url }, { url }]);
  await clock.advance(600_000);
  match(await failing, /may take 10 min in all$/);
  strictEqual(outbound.requests.length, 1);
});

const unreachable = "it cannot be reached or is not allowed";
const unusable = "it gave no usable answer";
const failures: readonly (readonly [answer: ScriptedAnswer, reason: string, logged: string])[] = [
  ...([204, 206, 304, 400, 404, 500] as const).map((status) =>
    [{ status, body: "no file" }, `it answered ${status}`, `status ${status}`] as const
  ),
  ...(["DNS_NOT_FOUND", "ADDRESS_FORBIDDEN", "CONNECT_FAILED", "TLS_FAILED"] as const satisfies OutboundCode[]).map(
    (fail) => [{ fail }, unreachable, fail] as const,
  ),
  ...(["REDIRECT_FORBIDDEN", "MALFORMED_RESPONSE"] as const satisfies OutboundCode[]).map(
    (fail) => [{ fail }, unusable, fail] as const,
  ),
  [{ fail: "BUSY" }, "too many exchanges are under way", "BUSY"],
  [{ body: ["half", { fail: "BODY_TRUNCATED" }] }, unusable, "BODY_TRUNCATED"],
];

for (const [answer, reason, logged] of failures) {
  Deno.test(`fetchFiles() fails with "${reason}", and logs ${logged} and the host only [§5.6 url-failed, §5.6 url-whole]`, async () => {
    await using setting = await makeDownloads();
    setting.outbound.answer(url, answer);
    using log = takeLog("warning");
    strictEqual(await setting.failing([{ url }]), `Cannot fetch file "report.pdf": ${reason}`);
    strictEqual(log.lines.length, 1);
    match(log.lines[0]!, new RegExp(`from "?files\\.example"?: .*${logged}`));
    ok(!/report|key=|secret/.test(log.lines[0]!), log.lines[0]);
    ok(Object.values(await setting.files()).every((text) => text === ""));
    deepStrictEqual([setting.outbound.open, setting.clock.pending], [0, 0]);
    strictEqual(setting.counters.snapshot()["downloads.failed"], 1);
  });
}

Deno.test("fetchFiles() makes files and the folders above durable before it resolves [§5.6 url-fetched]", async () => {
  await using setting = await makeDownloads();
  setting.outbound.answer(url, { body: "x" });
  strictEqual((await setting.fetch([{ url }])).kind, "fetched");
  const steps = setting.disk.log.map((line) => line.split(" ")).filter(([on]) => on === "flush" || on === "syncFolder");
  const synced = [folder, "inbox/alice", "inbox", ""].map((path) => `${setting.root}/${path}`.replace(/\/$/, ""));
  deepStrictEqual(steps.slice(1).map(([, path]) => path), synced);
  strictEqual(steps[0]?.[0], "flush");
});

Deno.test("fetchFiles() leaves what others put into its folder when it fails", async () => {
  await using setting = await makeDownloads();
  const head = Promise.withResolvers<void>();
  setting.outbound.answer(url, { body: "x" }, { hold: head.promise, status: 404 });
  const failing = setting.failing([{ url }, { url }]);
  await setting.clock.settle();
  await Deno.writeTextFile(`${setting.root}/${folder}/theirs.txt`, "theirs");
  head.resolve();
  match(await failing, /it answered 404/);
  deepStrictEqual(await setting.files(), { [`${folder}/theirs.txt`]: "theirs" });
});

Deno.test("fetchFiles() keeps all files of a message or none, and what was there before [§5.6 url-whole]", async () => {
  await using setting = await makeDownloads();
  await Deno.mkdir(`${setting.root}/${folder}`, { recursive: true });
  await Deno.writeTextFile(`${setting.root}/${folder}/earlier.txt`, "earlier");
  setting.outbound.answer(url, { body: "x" }, { status: 500 });
  match(await setting.failing([{ url }, { url }]), /it answered 500/);
  deepStrictEqual(await setting.files(), { [`${folder}/earlier.txt`]: "earlier" });
});

const full = 'Cannot fetch file "report.pdf": no room is left to store it';

for (const on of ["makeFolder", "createNew", "write", "flush", "rename", "syncFolder"] as const) {
  Deno.test(`fetchFiles() fails and leaves no file when ${on} finds the disk full [§5.6 url-room, §5.6 url-whole]`, async () => {
    await using setting = await makeDownloads();
    setting.outbound.answer(url, { body: ["half", "whole"] });
    const rule = setting.disk.rule({ on, code: "ENOSPC" });
    strictEqual(await setting.failing([{ url }]), full);
    rule.end();
    ok(Object.keys(await setting.files()).every((path) => path.endsWith("/")));
    strictEqual(setting.outbound.open, 0);
  });
}

Deno.test("fetchFiles() sends nothing with less room than the floor, and stops when a file takes the last of it [§5.6 url-room]", async () => {
  await using setting = await makeDownloads();
  setting.outbound.answer(url, { body: ["a", "b", "c"] });
  const roomFor = (looks: number) => ({ store: { hasRoom: () => Promise.resolve(looks-- > 0) } });
  strictEqual(await setting.failing([{ url }], roomFor(0)), full);
  strictEqual(setting.outbound.requests.length, 0);
  strictEqual(await setting.failing([{ url }], roomFor(3)), full); // one for the request, one a piece
  deepStrictEqual([await setting.files(), setting.outbound.open], [{ "inbox/alice/": "" }, 0]);
  strictEqual((await setting.fetch([{ url }], roomFor(4))).kind, "fetched");
});

Deno.test("fetchFiles() rejects for a disk that fails otherwise, and leaves nothing", async () => {
  await using setting = await makeDownloads();
  setting.outbound.answer(url, { body: "x" });
  setting.disk.rule({ on: "write", code: "EIO" });
  await rejects(setting.fetch([{ url }]), /EIO/);
  deepStrictEqual([await setting.files(), setting.outbound.open], [{ "inbox/alice/": "" }, 0]);
});

for (const when of ["before", "meanwhile"] as const) {
  Deno.test(`fetchFiles() does not write through a link that was put in the folder's place ${when} [DM11 no-link]`, async () => {
    await using setting = await makeDownloads();
    const { root, outbound } = setting;
    const head = Promise.withResolvers<void>();
    const rest = Promise.withResolvers<void>();
    outbound.answer(url, { hold: head.promise, body: ["half", rest.promise, "whole"] });
    const fetching = rejects(setting.fetch([{ url }]), /it is a link/);
    await Deno.mkdir(`${root}/elsewhere`);
    await Deno.mkdir(`${root}/inbox/alice`, { recursive: true });
    const swap = () => Deno.symlink(`${root}/elsewhere`, `${root}/${folder}`);
    if (when === "before") await swap();
    head.resolve();
    await setting.clock.settle();
    if (when === "meanwhile") {
      await Deno.rename(`${root}/${folder}`, `${root}/elsewhere/own`);
      await swap();
    }
    rest.resolve();
    await fetching;
    const paths = Object.keys(await setting.files()).filter((path) => !path.startsWith("elsewhere/own/"));
    ok(paths.every((path) => /[/@]$/.test(path)), paths.join());
  });
}

Deno.test("fetchFiles() takes nothing away through a link that was put in the folder's place [DM11 no-link]", async () => {
  await using setting = await makeDownloads();
  const { root, outbound } = setting;
  const head = Promise.withResolvers<void>();
  outbound.answer(url, { body: "fetched" }, { hold: head.promise, status: 404 });
  const failing = setting.failing([{ url }, { url }]);
  await setting.clock.settle();
  await Deno.mkdir(`${root}/elsewhere`);
  await Deno.writeTextFile(`${root}/elsewhere/report.pdf`, "the owner's");
  await Deno.rename(`${root}/${folder}`, `${root}/inbox/alice/own`);
  await Deno.symlink(`${root}/elsewhere`, `${root}/${folder}`);
  head.resolve();
  using log = takeLog("warning");
  match(await failing, /it answered 404/);
  strictEqual((await setting.files())["elsewhere/report.pdf"], "the owner's");
  match(log.lines.join(), /Cannot remove what was fetched/);
});

Deno.test("fetchFiles() is over at once when it is aborted, wherever it is, and leaves nothing [§5.6 url-abort, §5.6 url-whole]", async () => {
  const never = new Promise(() => {});
  const answers: readonly ScriptedAnswer[] = [{ hold: never }, { body: [never] }, { body: ["half", never, "whole"] }];
  for (const answer of answers) {
    await using setting = await makeDownloads();
    setting.outbound.answer(url, { body: "x" }, answer);
    const fetching = setting.fetch([{ url, filename: "first" }, { url }]);
    await setting.clock.settle();
    strictEqual(setting.outbound.requests.length, 2);
    setting.abort.abort();
    deepStrictEqual(await fetching, { kind: "aborted" });
    deepStrictEqual(await setting.files(), { "inbox/alice/": "" });
    deepStrictEqual([setting.outbound.open, setting.clock.pending], [0, 0]);
  }
});

Deno.test("fetchFiles() writes nothing more after an abort, though the door does not heed it [§5.6 url-abort]", async () => {
  await using setting = await makeDownloads();
  for (const [answer, written] of [[{}, 0], [{ body: ["half", "more", "whole"] }, 4]] as const) {
    const rest = Promise.withResolvers<void>();
    const [first, ...others] = answer.body ?? [];
    const body = first === undefined ? [] : [first, rest.promise, ...others];
    setting.outbound.answer(url, { isDeaf: true, body, ...(first === undefined && { hold: rest.promise }) });
    const abort = new AbortController();
    const before = setting.disk.bytesWritten;
    const fetching = setting.fetch([{ url }], { signal: abort.signal });
    await setting.clock.settle();
    abort.abort();
    rest.resolve();
    deepStrictEqual(await fetching, { kind: "aborted" });
    strictEqual(setting.disk.bytesWritten - before, written);
    strictEqual(setting.disk.log.some((line) => line.startsWith("createNew")), written > 0);
    strictEqual(setting.outbound.open, 0);
  }
});

for (const [on, name] of [["createNew", "tmp"], ["flush", "tmp"], ["rename", ""], ["syncFolder", ""]] as const) {
  Deno.test(`fetchFiles() leaves nothing when it is aborted while ${on} takes its time [§5.6 url-abort, §5.6 url-whole]`, async () => {
    await using setting = await makeDownloads();
    setting.outbound.answer(url, { body: "x" });
    const slow = Promise.withResolvers<void>();
    setting.disk.rule({ on, path: name, until: slow.promise });
    const fetching = setting.fetch([{ url }]);
    await setting.clock.settle();
    setting.abort.abort();
    slow.resolve();
    deepStrictEqual(await fetching, { kind: "aborted" });
    deepStrictEqual(await setting.files(), { "inbox/alice/": "" });
  });
}
