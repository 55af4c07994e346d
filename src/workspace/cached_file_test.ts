import { deepStrictEqual, notStrictEqual, ok, strictEqual } from "node:assert/strict";
import { configureSync, resetSync } from "@logtape/logtape";
import { systemClock } from "@/time/clock.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { CachedFile, type FileContent } from "./cached_file.ts";
import { createDisk, type Disk } from "./disk.ts";

const plain = createDisk(systemClock);
const started = Date.parse("2026-10-08T12:00:00.000Z");

function open(path: string, clock = createTestClock(started)) {
  let opens = 0;
  const disk: Disk = {
    ...plain,
    openReadSync(path) {
      opens++;
      return plain.openReadSync(path);
    },
  };
  const parse = (content: FileContent) => ({
    problems: [],
    text: content.kind === "bytes" ? new TextDecoder().decode(content.bytes) : content.kind,
    why: content.kind === "unusable" ? content.why : undefined,
  });
  const file = new CachedFile({ disk, clock, path, bytesMax: 100, parse });
  return { file, clock, opens: () => opens };
}

/** Writes a file as if that had been `secondsAgo` before the test clock's start. */
async function write(path: string, text: string, secondsAgo: number): Promise<void> {
  await Deno.writeTextFile(path, text);
  await Deno.utime(path, (started - secondsAgo * 1000) / 1000, (started - secondsAgo * 1000) / 1000);
}

Deno.test("CachedFile.read() opens an old file once and a young one each time [DM0 read-C]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/a`;
  const { file, clock, opens } = open(path);
  await write(path, "one", 1);
  const first = file.read();
  strictEqual(file.read(), first); // the same object, though it was read again
  strictEqual(opens(), 2);
  await clock.advance(1000);
  strictEqual(file.read(), first);
  strictEqual(file.read(), first);
  strictEqual(opens(), 3);
});

Deno.test("CachedFile.read() sees an edit of the same size in the same tick of a young file [§4 edits-hold-at-once]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/a`;
  const { file } = open(path);
  for (let edit = 0; edit < 50; edit++) {
    await write(path, `text ${edit % 10}`, 1);
    strictEqual(file.read().text, `text ${edit % 10}`);
  }
});

Deno.test("CachedFile.read() sees each kind of change of an old file [§4 edits-hold-at-once]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/a`;
  const { file } = open(path);
  strictEqual(file.read().text, "missing");
  await write(path, "one", 100);
  strictEqual(file.read().text, "one");
  await write(path, "two", 99); // time
  strictEqual(file.read().text, "two");
  await write(path, "four", 99); // size
  strictEqual(file.read().text, "four");
  await write(`${path}.new`, "five", 99); // inode
  await Deno.rename(`${path}.new`, path);
  strictEqual(file.read().text, "five");
  await Deno.remove(path);
  strictEqual(file.read().text, "missing");
});

Deno.test("CachedFile.read() gives the same object for the same content, whatever happened to the file [DM0 read-C]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/a`;
  const { file } = open(path);
  const none = file.read();
  strictEqual(file.read(), none);
  await write(path, "one", 50);
  const first = file.read();
  notStrictEqual(first, none);
  await write(path, "one", 40);
  strictEqual(file.read(), first);
  await write(path, "two", 39);
  notStrictEqual(file.read(), first);
});

Deno.test("CachedFile.read() never waits and never throws, whatever is at the path [DM0 read-C]", async () => {
  await using folder = await makeTempFolder();
  await new Deno.Command("mkfifo", { args: [`${folder.path}/fifo`] }).output();
  await Deno.mkdir(`${folder.path}/folder`);
  await Deno.symlink("loop", `${folder.path}/loop`);
  await write(`${folder.path}/large`, "x".repeat(101), 9);
  await write(`${folder.path}/fits`, "x".repeat(100), 9);
  await Deno.symlink("/dev/zero", `${folder.path}/device`);
  const cases = { fifo: /regular/, folder: /regular/, device: /regular/, loop: /looked at/, large: /larger than 100/ };
  for (const [name, why] of Object.entries(cases)) {
    const { file } = open(`${folder.path}/${name}`);
    const read = file.read();
    ok(why.test(read.why ?? ""), `${name}: ${read.why}`);
    strictEqual(file.read(), read);
  }
  strictEqual(open(`${folder.path}/fits`).file.read().text.length, 100);
  strictEqual(open(`${folder.path}/fits/x`).file.read().text, "missing");
});

Deno.test("CachedFile.read() reads again when the clock is behind the file's time [DM0 read-C]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/a`;
  const { file, opens } = open(path);
  await write(path, "one", -3600);
  file.read();
  file.read();
  strictEqual(opens(), 2);
});

Deno.test("CachedFile.read() with a real clock sees 300 quick edits of one size [§4 edits-hold-at-once]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/a`;
  const seen: string[] = [];
  const parse = (content: FileContent) => ({
    problems: [],
    text: content.kind === "bytes" ? new TextDecoder().decode(content.bytes) : "",
  });
  const file = new CachedFile({ disk: plain, clock: systemClock, path, bytesMax: 100, parse });
  for (let edit = 100; edit < 400; edit++) {
    Deno.writeTextFileSync(path, `${edit}`);
    seen.push(file.read().text);
  }
  deepStrictEqual(seen, Array.from({ length: 300 }, (_, index) => `${100 + index}`));
});

Deno.test("CachedFile.read() logs problems once, and again when they change, also back and forth [§4 one-warning-a-change]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/a`;
  const logged: string[] = [];
  configureSync({
    sinks: { test: (record) => void logged.push(record.message.join("")) },
    loggers: [{ category: ["a2a"], sinks: ["test"], lowestLevel: "warning" }, {
      category: ["logtape", "meta"],
      sinks: [],
    }],
  });
  try {
    const parse = (content: FileContent) => ({
      problems: content.kind === "bytes" ? new TextDecoder().decode(content.bytes).split(" ").filter(Boolean) : [],
    });
    const file = new CachedFile({ disk: plain, clock: createTestClock(started), path, bytesMax: 1000, parse });
    for (const [age, text] of [[9, "bad"], [8, "bad"], [7, "bad worse"], [6, ""], [5, "bad"]] as const) {
      await write(path, text, age);
      file.read();
      file.read();
    }
    deepStrictEqual(logged.filter(Boolean), ["bad", "bad", "worse", "bad"]);
    logged.length = 0;
    await write(path, Array.from({ length: 100 }, (_, index) => `p${index}`).join(" "), 4);
    file.read();
    strictEqual(logged.length, 21);
  } finally {
    resetSync();
  }
});
