import { ok } from "node:assert/strict";
import { runInNamespace, whyNoNamespace } from "@tests/fakes/namespace.ts";

const whyNot = await whyNoNamespace();
if (whyNot !== undefined) console.log(`The tests of the outbound door in a namespace are skipped: ${whyNot}`);

/** Another Deno than this one, to run the tests with. */
const deno = Deno.env.get("DENO") ?? Deno.execPath();

Deno.test({
  name: "the tests of the outbound door hold with real addresses, the real resolver and nothing opened",
  ignore: whyNot !== undefined,
  async fn() {
    const { success, out, error } = await runInNamespace(deno, [
      ...["test", "--no-prompt", "--no-check", "--cached-only", "-A", "tests/outbound"],
    ]);
    ok(success, `${out}\n${error}`);
    const [, passed] = /^ok \| (\d+) passed \| 0 failed/m.exec(out) ?? [];
    ok(Number(passed) > 200, out);
  },
});
