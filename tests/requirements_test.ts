import { deepStrictEqual, match } from "node:assert/strict";
import { requirements } from "@tests/requirements.ts";
import { citationsIn } from "@tests/requirements/citations.ts";
import { idShape } from "@tests/requirements/promised.ts";

const known = new Set(requirements.map(({ id }) => id));

Deno.test("requirements have ids of one form, each once", () => {
  for (const { id } of requirements) match(id, new RegExp(`^${idShape.source}$`));
  deepStrictEqual(requirements.length, known.size);
});

Deno.test("requirements are each cited by a test", async () => {
  const cited = await citationsOfAllTests();
  const uncited = requirements.filter(({ id }) => !cited.has(id)).map(({ id, promise }) => `${id}: ${promise}`);
  deepStrictEqual(uncited, [], `No test cites:\n${uncited.join("\n")}\n`);
});

Deno.test("requirements hold every id that a test cites", async () => {
  const unknown = [...await citationsOfAllTests()].filter(([id]) => !known.has(id)).map(([id, at]) => `${id} (${at})`);
  deepStrictEqual(unknown, [], `Cited, but in no list of tests/requirements/:\n${unknown.sort().join("\n")}\n`);
});

/** Each id that a test cites, with the path of one that does. */
async function citationsOfAllTests(): Promise<ReadonlyMap<string, string>> {
  const cited = new Map<string, string>();
  for await (const path of testFiles()) {
    for (const id of citationsIn(await Deno.readTextFile(path), known)) cited.set(id, path);
  }
  return cited;
}

async function* testFiles(folder?: string): AsyncGenerator<string> {
  for (const root of folder === undefined ? ["src", "tests", "scripts"] : [folder]) {
    for await (const { name, isDirectory } of Deno.readDir(root)) {
      if (isDirectory) yield* testFiles(`${root}/${name}`);
      else if (isTest(root, name)) yield `${root}/${name}`;
    }
  }
}

/** Tests, and the suites that tests run over several versions. */
function isTest(folder: string, name: string): boolean {
  return (name.endsWith("_test.ts") && name !== "citations_test.ts") || folder === "tests/suites";
}
