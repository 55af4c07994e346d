import { deepStrictEqual, rejects, strictEqual, throws } from "node:assert/strict";
import { lendTools } from "./lent_tools.ts";

Deno.test("lendTools() lends what is there until it is taken back [§8 tools-lent-for-a-turn]", async () => {
  const calls: string[] = [];
  const { tools, takeBack } = lendTools({
    send: (path) => Promise.resolve(void calls.push(path)).then(() => ({ kind: "done" })),
    requestInput: (question) => void calls.push(question),
  });
  strictEqual(tools.write, undefined);
  strictEqual(tools.notifyOwner, undefined);
  deepStrictEqual(await tools.send!("a.txt"), { kind: "done" });
  tools.requestInput!("Which?");
  takeBack();
  await rejects(tools.send!("b.txt"), RangeError);
  throws(() => tools.requestInput!("What?"), RangeError);
  deepStrictEqual(calls, ["a.txt", "Which?"]);
});
