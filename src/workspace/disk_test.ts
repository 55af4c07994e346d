import { deepStrictEqual, ok, rejects, strictEqual, throws } from "node:assert/strict";
import { systemClock } from "@/time/clock.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { createDisk, isMissing, isPathTrouble } from "./disk.ts";

const disk = createDisk(systemClock);
const bytes = (text: string) => new TextEncoder().encode(text);
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

Deno.test("disk.openWrite() writes from the start, cuts nothing by itself, and follows its own place", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/a`;
  await Deno.writeTextFile(path, "0123456789");
  {
    using file = await disk.openWrite(path);
    await file.write(bytes("ab"));
    await file.write(bytes("cd"));
    strictEqual(file.stamp.bytes, 10);
    await file.truncate(6);
    await file.flush();
  }
  strictEqual(await Deno.readTextFile(path), "abcd45");
  await rejects(disk.openWrite(`${folder.path}/none`), isMissing);
});

Deno.test("disk.openRead() and openWrite() never wait for the other end of a FIFO [§4 confined-paths]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/fifo`;
  await new Deno.Command("mkfifo", { args: [path] }).output();
  await rejects(disk.openWrite(path), isPathTrouble); // nobody reads
  using file = await disk.openRead(path);
  strictEqual(file.stamp.kind, "other");
  using other = await disk.openWrite(path);
  strictEqual(other.stamp.kind, "other");
  using same = disk.openReadSync(path);
  strictEqual(same.stamp.kind, "other");
});

Deno.test("a readable file gives pieces by place, and nothing once it is closed", async () => {
  await using folder = await makeTempFolder();
  await Deno.writeTextFile(`${folder.path}/a`, "0123456789");
  const file = await disk.openRead(`${folder.path}/a`);
  strictEqual(text(await file.readAt(3, 4)), "3456");
  strictEqual(text(await file.readAt(8, 100)), "89");
  strictEqual(text(await file.readAt(50, 1)), "");
  strictEqual(text(file.readSync(2)), "01");
  const stream = file.stream().getReader();
  file[Symbol.dispose]();
  file[Symbol.dispose]();
  throws(() => file.readSync(1), TypeError);
  await rejects(file.read(), TypeError);
  await rejects(file.readAt(0, 1), TypeError);
  await rejects(stream.read(), TypeError); // its number may be another file's by now
});

Deno.test("a readable file is closed when its stream cannot be read any further", async () => {
  await using folder = await makeTempFolder();
  const file = await disk.openRead(folder.path); // a folder opens, and cannot be read
  const stream = file.stream().getReader();
  await rejects(stream.read(), { code: "EISDIR" });
  throws(() => file.readSync(1), /it was closed/);
});

Deno.test("disk.lock() lets 100 in this process take turns, in order, without threads that wait", async () => {
  await using folder = await makeTempFolder();
  const order: number[] = [];
  let inside = 0;
  await Promise.all(Array.from({ length: 100 }, async (_, turn) => {
    using lock = await disk.lock(`${folder.path}/lock`, 30_000);
    ok(lock);
    strictEqual(++inside, 1);
    ok(lock.holds());
    await disk.list(folder.path); // needs a thread of the pool
    order.push(turn);
    inside--;
  }));
  deepStrictEqual(order, Array.from({ length: 100 }, (_, turn) => turn));
});

Deno.test("disk.lock() gives up after its wait, and lets those behind it go on", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/lock`;
  const clock = createTestClock();
  const timed = createDisk(clock);
  const first = await timed.lock(path, 1000);
  ok(first);
  const second = timed.lock(path, 1000);
  const third = timed.lock(path, 5000);
  strictEqual(await timed.lock(path, 0), undefined);
  await clock.advance(1000);
  strictEqual(await second, undefined);
  first[Symbol.dispose]();
  using lock = await third;
  ok(lock?.holds());
  strictEqual(clock.pending, 0);
});

Deno.test("disk.lock() is given up by the system when its process is killed [DM0 locks]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/lock`;
  const script = `const f = Deno.openSync(${JSON.stringify(path)}, { create: true, write: true });
    f.lockSync(true); console.log("held"); setTimeout(() => {}, 60_000);`;
  const child = new Deno.Command(Deno.execPath(), { args: ["eval", script], stdout: "piped", stderr: "null" }).spawn();
  const reader = child.stdout.getReader();
  ok(text((await reader.read()).value!).includes("held"));
  strictEqual(await disk.lock(path, 0), undefined);
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();
  using lock = await disk.lock(path, 5000);
  ok(lock?.holds());
});

Deno.test("a lock says that it no longer bars anyone when its file was replaced [DM0 locks]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/lock`;
  using lock = await disk.lock(path, 0);
  ok(lock?.holds());
  await Deno.remove(path);
  strictEqual(lock?.holds(), false);
  await Deno.writeTextFile(path, "");
  strictEqual(lock?.holds(), false);
});

Deno.test({
  name: "disk.own() gives a link itself away, not what it leads to",
  ignore: Deno.build.os === "windows" || Deno.uid() !== 0,
  fn: async () => {
    await using folder = await makeTempFolder();
    await Deno.writeTextFile(`${folder.path}/a`, "");
    await Deno.symlink("a", `${folder.path}/l`);
    await disk.own(`${folder.path}/l`, 1234, 2345);
    strictEqual(disk.linkStampSync(`${folder.path}/l`)?.owner, 1234);
    strictEqual(disk.stampSync(`${folder.path}/l`)?.owner, 0);
  },
});
