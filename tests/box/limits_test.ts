import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { systemClock } from "@/time/clock.ts";
import { makeBoxSetting, needsBox } from "./box_setting.ts";

/** Names that only these tests' processes have. */
function processesOf(word: string): Promise<string> {
  return new Deno.Command("pgrep", { args: ["-f", word] }).output().then(({ stdout }) =>
    new TextDecoder().decode(stdout)
  );
}

Deno.test(
  "a program's end, its limit of time and the host's end leave nothing behind [§6 box-tree]",
  needsBox,
  async () => {
    await using box = await makeBoxSetting();
    const end = await box.bash("(setsid sleep 4711.1 >/dev/null 2>&1 &) ; exit 7");
    deepStrictEqual([end.code, end.because], [7, undefined]);
    strictEqual(await processesOf("sleep 4711[.]1"), "");
    const late = await box.bash("sleep 4711.2 & sleep 4711.2", { timeoutMs: 300 });
    deepStrictEqual([late.code, late.because], [137, "time"]);
    const running = box.bash("echo begun; setsid sleep 4711.3 & sleep 4711.3");
    while (await processesOf("sleep 4711[.]3") === "") await systemClock.sleep(20);
    await box.starter[Symbol.asyncDispose]();
    strictEqual((await running).because, "host ends");
    while (await processesOf("sleep 4711[.][23]") !== "") await systemClock.sleep(20); // the kernel's own time to kill
    await rejects(box.bash("true"), /could not be started/);
  },
);

Deno.test("a program that puts out too much is killed [§6 box-limits]", needsBox, async () => {
  await using box = await makeBoxSetting({ settings: { "box-output": "1MiB" } });
  const { because, out } = await box.bash("yes");
  strictEqual(because, "output");
  ok(out.length <= 2 ** 20);
});

Deno.test("what is not read of a program does not grow: it waits [§6 box-streams]", needsBox, async () => {
  await using box = await makeBoxSetting();
  const program = {
    kind: "bash" as const,
    command: ["bash", "-c", "yes & sleep 1"],
    timeoutMs: 5000,
  };
  const answer = await box.starter.start({ kind: "start program", workspace: "home", caller: "mallory", program });
  if (answer.kind === "refused") throw new Error(answer.why);
  strictEqual((await box.starter.ended(answer.id)).because, undefined); // else all of its output would have been taken
  await answer.stdout.cancel();
  await answer.stderr.cancel();
});

Deno.test(
  "a program that allocates too much fails, and node starts all the same [§6 box-limits]",
  needsBox,
  async () => {
    await using box = await makeBoxSetting({ settings: { "box-memory": "512MiB" } });
    const big = await box.bash(
      "python3 -c 'x = bytearray(1 << 30); print(len(x))' || perl -e '$x = \"a\" x (1 << 30); print 1'",
    );
    strictEqual(big.out, "");
    match((await box.bash("if command -v node; then node -e 'console.log(42)'; else echo 42; fi")).out, /^42$/m);
  },
);

Deno.test("a program cannot write a file over its caller's disk, nor many [§7 disk-quota]", needsBox, async () => {
  await using box = await makeBoxSetting();
  const one = await box.bash("head -c 3000000 /dev/zero > work/small/big; stat -c %s work/small/big", {
    caller: "small",
  });
  strictEqual(Number(one.out), 1_000_000);
  const many = await box.bash("i=0; while true; do head -c 900000 /dev/zero > work/small/$((i++)); sleep 0.1; done", {
    caller: "small",
  });
  strictEqual(many.because, "disk");
  await rejects(box.bash("true", { caller: "small" }), /disk room of this caller is used up/);
  strictEqual((await box.bash("echo fine")).out, "fine\n");
});

Deno.test("memory that looks like a disk is bounded in a box [§6 box-limits]", needsBox, async () => {
  await using box = await makeBoxSetting({ settings: { "box-scratch": "1MiB" } });
  const { out } = await box.bash(
    "for d in /tmp /dev/shm $HOME; do head -c 3000000 /dev/zero > $d/x 2>/dev/null; stat -c %s $d/x; done",
  );
  strictEqual(out, "1048576\n1048576\n1048576\n");
});

Deno.test("a fork bomb ends with its time, and for all users but root at once [§6 box-limits]", needsBox, async () => {
  await using box = await makeBoxSetting({ settings: { "box-processes": "50" } });
  const { out } = await box.bash("ulimit -u; ulimit -Hu; ulimit -u 1000 2>/dev/null; ulimit -u");
  strictEqual(out, "50\n50\n50\n"); // the kernel keeps it, except for root
  const bomb = await box.bash(
    "bomb() { bomb4711 | sleep 5 & }; for i in $(seq 200); do sleep 30 & done 2>/dev/null; wait",
    {
      timeoutMs: 1_000,
    },
  );
  ok(bomb.because === "time" || bomb.code !== 0);
});

Deno.test(
  "a folder is kept for a conversation, and for it alone [§6 box-requests]",
  needsBox,
  async () => {
    await using box = await makeBoxSetting();
    const run = async (contextId: string, command: string) => {
      const program = { kind: "engine" as const, command: ["bash", "-c", command], timeoutMs: 5000, keepsFolder: true };
      const answer = await box.starter.start({
        kind: "start program",
        workspace: "home",
        caller: "mallory",
        contextId,
        program,
      });
      if (answer.kind === "refused") return answer.why;
      await answer.stderr.cancel();
      const text = await new Response(answer.stdout).text();
      await box.starter.ended(answer.id);
      return text;
    };
    strictEqual(await run("one", "echo kept > /session/x; cat /session/x"), "kept\n");
    strictEqual(await run("one", "cat /session/x"), "kept\n");
    strictEqual(await run("two", "cat /session/x || ls /session"), "");
    strictEqual(await run("../..", "true"), "The conversation has no folder");
    strictEqual((await Deno.stat(join(box.root, ".volcanic/sessions/ws-a2a-mallory_one"))).isDirectory, true);
  },
);

Deno.test("a caller has at most 16 programs at once, and others theirs [§6 box-limits]", needsBox, async () => {
  await using box = await makeBoxSetting();
  const many = Array.from({ length: 16 }, () => box.bash("read -t 60 line || sleep 60"));
  await rejects(box.bash("true"), /16 programs of this caller run already/);
  strictEqual((await box.bash("echo fine", { caller: "alice" })).out, "fine\n");
  await box.starter[Symbol.asyncDispose]();
  await Promise.allSettled(many); // those that began are over with the host, the others were refused
});

Deno.test(
  "a program that ended, or did not start, leaves its place to the next [§6 box-limits]",
  needsBox,
  async () => {
    await using box = await makeBoxSetting();
    for (let round = 0; round < 3; round++) {
      await Promise.all(Array.from({ length: 8 }, () => box.bash("true")));
      await Promise.all(Array.from({ length: 8 }, () => rejects(box.bash("a\0b"), /malformed/)));
    }
    strictEqual((await box.bash("echo fine")).out, "fine\n");
  },
);

const refusals = [
  { what: "a workspace that is not served", how: { workspace: "/etc" }, why: /No such workspace/ },
  { what: "a caller without an entry", how: { caller: "../alice" }, why: /no entry/ },
  { what: "no command", how: { program: { command: [] } }, why: /malformed/ },
  { what: "a command that is no list", how: { program: { command: "bash" } }, why: /malformed/ },
  { what: "a NUL", how: { program: { command: ["a\0b"] } }, why: /malformed/ },
  { what: "no time", how: { program: { timeoutMs: NaN } }, why: /malformed/ },
  { what: "an argument that no kernel takes", how: { program: { command: ["x".repeat(200_000)] } }, why: /too long/ },
];

for (const { what, how, why } of refusals) {
  Deno.test(`ProgramStarter refuses ${what} [§6 box-requests]`, needsBox, async () => {
    await using box = await makeBoxSetting();
    const program = { kind: "bash", command: ["true"], timeoutMs: 1000, ...how.program };
    const request = { kind: "start program", workspace: "home", caller: "mallory", ...how, program };
    const answer = await box.starter.start(request as never);
    strictEqual(answer.kind, "refused");
    if (answer.kind === "refused") match(answer.why, why);
  });
}

Deno.test(
  "a partner's box leaves no mount points behind, two at once neither, and the owner's files stay [§6 box-attacks]",
  needsBox,
  async () => {
    await using box = await makeBoxSetting();
    const before = [...Deno.readDirSync(box.root)].map(({ name }) => name).sort();
    const long = box.bash("sleep 1; echo x > CLAUDE.md && echo changed", { caller: "partner" });
    await box.bash("true", { caller: "partner" });
    strictEqual((await long).out, "");
    await box.starter[Symbol.asyncDispose]();
    deepStrictEqual([...Deno.readDirSync(box.root)].map(({ name }) => name).sort(), before);
  },
);

Deno.test("without a box programs run with the rights of the process, in the workspace, and their group dies with them [§6 unsandboxed]", async () => {
  await using box = await makeBoxSetting({ box: undefined });
  const { out } = await box.bash("pwd; cat .env; (sleep 4712.1 &)");
  strictEqual(out, `${box.root}\nKEY=s3cret-env`);
  strictEqual(await processesOf("sleep 4712[.]1"), "");
});
