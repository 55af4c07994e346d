import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { isSkipped as ignore, type Machine, makeMachine } from "@tests/binary/executable.ts";

interface Row {
  readonly taskId: string;
  readonly state: string;
  readonly text: string;
}

async function tasksOf(machine: Machine): Promise<readonly Row[]> {
  const listed = await machine.run(["tasks", "list", "--json", "--workspace", machine.workspace]);
  strictEqual(listed.code, 0, listed.error);
  return JSON.parse(listed.out).tasks;
}

Deno.test({
  name: "a killed executable leaves its task as it was; the next start says what happened, and holds no old lock " +
    "[§4 crash-frees-lock, SM7 recover]",
  ignore,
  async fn() {
    await using machine = await makeMachine();
    {
      await using killed = machine.start(["try", "wait: 10m", "--workspace", machine.workspace]);
      await killed.readUntil(/: working\n/);
      deepStrictEqual((await tasksOf(machine)).map(({ state }) => state), ["working"]);
      killed.kill("SIGKILL");
      strictEqual((await killed.ended).signal, "SIGKILL");
    }
    const [before] = await tasksOf(machine);
    strictEqual(before?.state, "working");
    strictEqual((await machine.run(["try", "hello", "--workspace", machine.workspace])).code, 0);
    const after = (await tasksOf(machine)).find(({ taskId }) => taskId === before.taskId);
    deepStrictEqual([after?.state, after?.text], ["failed", "server restarted"]);
  },
});

Deno.test({
  name: "an executable that is killed while it streams, ten times over, loses no task and starts each time " +
    "[§4 crash-frees-lock, §5.5 durable-before-seen]",
  ignore,
  async fn() {
    await using machine = await makeMachine();
    const seen = new Set<string>();
    for (let round = 0; round < 10; round++) {
      await using killed = machine.start(["try", "--workspace", machine.workspace]);
      await killed.write("hello\n");
      await killed.closeInput();
      const said = await killed.readUntil(/· task (\S+) in/);
      seen.add(/· task (\S+) in/.exec(said)![1]!);
      killed.kill("SIGKILL");
      await killed.ended;
    }
    strictEqual((await machine.run(["try", "hello", "--workspace", machine.workspace])).code, 0);
    const stored = new Map((await tasksOf(machine)).map(({ taskId, state }) => [taskId, state]));
    for (const taskId of seen) ok(["completed", "failed"].includes(stored.get(taskId)!), stored.get(taskId));
    strictEqual(stored.size, seen.size + 1);
  },
});

Deno.test({
  name: "an interrupt of the executable cancels the task that runs [§3 exit-codes]",
  ignore,
  async fn() {
    await using machine = await makeMachine();
    await using started = machine.start(["try", "wait: 10m", "--workspace", machine.workspace]);
    await started.readUntil(/: working\n/);
    started.kill("SIGINT");
    const { code, out } = await started.ended;
    strictEqual(code, 1);
    ok(out.includes("· canceled"), out);
    deepStrictEqual((await tasksOf(machine)).map(({ state }) => state), ["canceled"]);
  },
});

Deno.test({
  name:
    "a second executable on a workspace is refused, naming the pid of the first; reading goes beside it [§4 host.lock]",
  ignore,
  async fn() {
    await using machine = await makeMachine();
    await using first = machine.start(["try", "wait: 10m", "--workspace", machine.workspace]);
    await first.readUntil(/: working\n/);
    const second = await machine.run(["try", "hello", "--workspace", machine.workspace]);
    deepStrictEqual([second.code, second.out], [2, ""]);
    ok(second.error.includes(`pid ${first.pid}`), second.error);
    strictEqual((await tasksOf(machine)).length, 1);
    const added = await machine.run(["callers", "add", "bot", "--workspace", machine.workspace]);
    strictEqual(added.code, 0, added.error);
  },
});

Deno.test({
  name: "edits of several executables at once all hold [§3 callers-beside-host, DM0 locks]",
  ignore,
  async fn() {
    await using machine = await makeMachine();
    const names = ["a", "b", "c", "d", "e", "f"];
    const add = (name: string) => machine.run(["callers", "add", name, "--workspace", machine.workspace]);
    const added = await Promise.all(names.map(add));
    deepStrictEqual(added.map(({ code }) => code), names.map(() => 0), added.map(({ error }) => error).join());
    const callers: readonly { name: string }[] = JSON.parse(
      await Deno.readTextFile(`${machine.workspace}/.volcanic/a2a/callers.json`),
    );
    deepStrictEqual(callers.map(({ name }) => name).sort(), names);
  },
});
