import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import manifest from "@manifest" with { type: "json" };
import { isSkipped as ignore, makeMachine } from "@tests/binary/executable.ts";

Deno.test({
  name: "the executable says its version, and needs no environment and no other program [§1 one-executable]",
  ignore,
  async fn() {
    await using machine = await makeMachine();
    deepStrictEqual(await machine.run(["--version"]), { code: 0, out: `${manifest.version}\n`, error: "" });
    const tried = await machine.run(["try", "hello", "--workspace", machine.workspace]);
    ok(/: working\nhello\n· completed\n$/.test(tried.out), tried.out);
    deepStrictEqual({ code: tried.code, error: tried.error }, { code: 0, error: "" });
  },
});

Deno.test({
  name: "the executable keeps no code cache where others could put theirs [§4 no-code-cache]",
  ignore,
  async fn() {
    await using machine = await makeMachine();
    for (let start = 0; start < 2; start++) await machine.run(["try", "hello", "--workspace", machine.workspace]);
    deepStrictEqual([...Deno.readDirSync(machine.temp)], []);
  },
});

const exits: readonly { readonly name: string; readonly args: readonly string[]; readonly code: number }[] = [
  { name: "0 when the work is done", args: ["try", "hello"], code: 0 },
  { name: "1 when the work failed", args: ["try", "fail: the model said no"], code: 1 },
  {
    name: "1 when the message is refused",
    args: ["try", "hello", "--context", "c", "--task", crypto.randomUUID()],
    code: 1,
  },
  { name: "2 for a command that is none", args: ["fly"], code: 2 },
  { name: "2 for a flag that is none", args: ["try", "hello", "--flag-that-is-none"], code: 2 },
  { name: "2 for a bad value of a setting", args: ["try", "hello", "--max-hops", "many"], code: 2 },
  { name: "2 for a task that is not there", args: ["tasks", "show", "none"], code: 2 },
  { name: "2 for a caller that is not there", args: ["callers", "remove", "none"], code: 2 },
  { name: "5 when an answer is asked for", args: ["try", "ask: Which colour?"], code: 5 },
];

for (const { name, args, code } of exits) {
  Deno.test({
    name: `the executable ends with ${name}, and errors are one line [§3 exit-codes]`,
    ignore,
    async fn() {
      await using machine = await makeMachine();
      const workspace = args[0] === "fly" ? [] : ["--workspace", machine.workspace];
      const ended = await machine.run([...args, ...workspace]);
      strictEqual(ended.code, code, ended.out + ended.error);
      if (code === 2) ok(ended.out === "" && /^[^\n]+\n$/.test(ended.error), ended.out + ended.error);
    },
  });
}

Deno.test({
  name: "config of the executable shows each setting's value and source, flag over environment [§16 precedence]",
  ignore,
  async fn() {
    await using machine = await makeMachine();
    const env = { A2A__MaxHops: "5", a2a__queuedruns: "7" };
    const { code, out } = await machine.run(["config", "--json", "--max-hops", "4"], { env });
    strictEqual(code, 0);
    const rows: readonly { setting: string; value: string; source: string }[] = JSON.parse(out);
    const row = (name: string) => rows.find(({ setting }) => setting === name);
    deepStrictEqual([row("MaxHops")?.value, row("MaxHops")?.source], ["4", "flag"]);
    deepStrictEqual([row("QueuedRuns")?.value, row("QueuedRuns")?.source], ["7", "environment"]);
    deepStrictEqual([row("ConcurrentRuns")?.source], ["default"]);
  },
});

Deno.test({
  name: "a conversation, its question and a file go through the executable and are stored [§1 one-executable]",
  ignore,
  async fn() {
    await using machine = await makeMachine();
    const workspace = ["--workspace", machine.workspace];
    const asked = await machine.run(["try", ...workspace], { input: "ask: Which colour?" });
    strictEqual(asked.code, 5);
    const [, taskId] = /task (\S+) in context/.exec(asked.out)!;
    const answered = await machine.run(["try", "blue", "--task", taskId!, ...workspace]);
    ok(answered.out.endsWith("blue\n· completed\n"), answered.out);
    const sent = await machine.run(["try", ...workspace], { input: "file: report.txt all is well\nHere it is." });
    ok(sent.out.includes("· file report.txt, 11 bytes, text/plain\nHere it is.\n"), sent.out);
    strictEqual(await Deno.readTextFile(join(machine.workspace, "work/try/report.txt")), "all is well");

    const listed = JSON.parse((await machine.run(["tasks", "list", "--json", ...workspace])).out);
    deepStrictEqual(listed.tasks.map(({ state }: { state: string }) => state), ["completed", "completed"]);
    const shown = await machine.run(["tasks", "show", taskId!.slice(0, 8), ...workspace]);
    ok(shown.out.includes("Which colour?") && shown.out.includes("blue"), shown.out);
  },
});

Deno.test({
  name:
    "callers of the executable adds, lists, rotates and removes; no key is in a file [§3 callers-add, §3 callers-list]",
  ignore,
  async fn() {
    await using machine = await makeMachine();
    const callers = (...args: string[]) => machine.run(["callers", ...args, "--workspace", machine.workspace]);
    const added = await callers("add", "bot", "--note", "for trips");
    ok(/^k_[0-9a-f]{64}\n$/.test(added.out), added.out + added.error);
    const rotated = await callers("rotate", "bot", "--overlap", "1h");
    ok(/^k_[0-9a-f]{64}\n$/.test(rotated.out) && rotated.out !== added.out, rotated.error);
    const file = `${machine.workspace}/.volcanic/a2a/callers.json`;
    const stored = await Deno.readTextFile(file);
    const listed = (await callers()).out;
    for (const { out } of [added, rotated]) strictEqual((stored + listed).includes(out.trimEnd()), false);
    ok(listed.startsWith(`bot  …${rotated.out.trimEnd().slice(-4)}  read  never expires, old key until `), listed);
    strictEqual((await Deno.stat(file)).mode! & 0o777, 0o600);
    deepStrictEqual(await callers("remove", "bot"), { code: 0, out: "Removed bot\n", error: "" });
    strictEqual(await Deno.readTextFile(file), "[]\n");
  },
});
