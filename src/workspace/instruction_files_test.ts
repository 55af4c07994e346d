import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import type { Confinement } from "./confined_path.ts";
import { createDisk } from "./disk.ts";
import { readFirstLine, readInstructions } from "./instruction_files.ts";

async function makeWorkspace(files: Readonly<Record<string, string>>) {
  const folder = await makeTempFolder();
  const root = folder.path;
  await Deno.mkdir(`${root}/.volcanic`);
  await Deno.writeTextFile(`${root}/.volcanic/secret.md`, "SECRET");
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${root}/${name}`, text);
  const within: Confinement = {
    disk: createDisk(systemClock),
    random: systemRandom,
    root,
    hidden: [`${root}/.volcanic`],
  };
  return { root, within, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

Deno.test("readInstructions() gives each file under its name, in order, fresh each time [seed 000 Sessions]", async () => {
  await using workspace = await makeWorkspace({
    "AGENTS.md": "Do.\n",
    "CLAUDE.md": "no",
    "MEMORY.md": "Tea.",
    "PERSONA.md": "Kind.",
  });
  const { root, within } = workspace;
  strictEqual(await readInstructions(within), "# AGENTS.md\n\nDo.\n\n# PERSONA.md\n\nKind.\n\n# MEMORY.md\n\nTea.");
  await Deno.writeTextFile(`${root}/MEMORY.md`, "Ink");
  match(await readInstructions(within), /Ink$/);
});

Deno.test("readInstructions() takes CLAUDE.md when there is no AGENTS.md, and nothing when there is nothing", async () => {
  await using workspace = await makeWorkspace({ "CLAUDE.md": "Do.", "MEMORY.md": " \n" });
  strictEqual(await readInstructions(workspace.within), "# CLAUDE.md\n\nDo.");
  await Deno.remove(`${workspace.root}/CLAUDE.md`);
  strictEqual(await readInstructions(workspace.within), "");
});

Deno.test("readInstructions() takes a link that stays inside, and none that leads to what is hidden or outside [threats]", async () => {
  await using workspace = await makeWorkspace({ "CLAUDE.md": "Do." });
  const { root, within } = workspace;
  await Deno.symlink("CLAUDE.md", `${root}/AGENTS.md`);
  await Deno.symlink(".volcanic/secret.md", `${root}/MEMORY.md`);
  await Deno.symlink("/etc/hostname", `${root}/PERSONA.md`);
  strictEqual(await readInstructions(within), "# AGENTS.md\n\nDo.");
});

Deno.test("readInstructions() reads 64 KiB of a file, says so, and cuts no character in two", async () => {
  await using workspace = await makeWorkspace({ "MEMORY.md": "x" + "é".repeat(40_000) });
  const text = await readInstructions(workspace.within);
  ok(text.includes("only its first 64 KiB"));
  strictEqual(text.includes("\ufffd"), false);
  strictEqual(text.match(/é/g)?.length, 32_767);
});

const lines: readonly { name: string; text: string; first: string | undefined }[] = [
  { name: "the first line", text: "Kind.\nTwo.", first: "Kind." },
  { name: "the first that is not blank", text: "\ufeff\r\n \t\n  # Kind \r\nTwo", first: "# Kind" },
  { name: "no control characters", text: "a\x1b]52;c;x\x07b\x9b\u202ec\u2066d", first: "a]52;c;xbcd" },
  { name: "nothing of a blank file", text: " \n\x00\n", first: undefined },
  { name: "the beginning of an endless line", text: "x".repeat(70_000), first: "x".repeat(65_536) },
];

for (const { name, text, first } of lines) {
  Deno.test(`readFirstLine() gives ${name} [DM2 not-through-a-link]`, async () => {
    await using workspace = await makeWorkspace({ "PERSONA.md": text });
    strictEqual(await readFirstLine(workspace.within, "PERSONA.md"), first);
  });
}

Deno.test("readFirstLine() reads regular files only, and through no link [threats PERSONA.md]", async () => {
  await using workspace = await makeWorkspace({ "real.md": "Kind." });
  const { root, within } = workspace;
  await Deno.mkdir(`${root}/skills/a`, { recursive: true });
  await Deno.writeTextFile(`${root}/skills/a/SKILL.md`, "Skill.");
  await Deno.symlink("real.md", `${root}/PERSONA.md`);
  await Deno.symlink("a", `${root}/skills/b`);
  await new Deno.Command("mkfifo", { args: [`${root}/fifo.md`] }).output();
  const paths = ["PERSONA.md", "skills/b/SKILL.md", "fifo.md", "skills", ".volcanic/secret.md", "none.md"];
  deepStrictEqual(await Promise.all(paths.map((path) => readFirstLine(within, path))), paths.map(() => undefined));
  strictEqual(await readFirstLine(within, "skills/a/SKILL.md"), "Skill.");
});
