import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import type { Confinement } from "./confined_path.ts";
import { createDisk } from "./disk.ts";
import { readSkillFiles } from "./skill_files.ts";

async function makeWorkspace(files: Readonly<Record<string, string>>) {
  const folder = await makeTempFolder();
  const root = folder.path;
  const write = async (path: string, text: string) => {
    await Deno.mkdir(`${root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(`${root}/${path}`, text);
  };
  await write(".volcanic/a2a/secret.md", "SECRET");
  for (const [path, text] of Object.entries(files)) await write(path, text);
  const within: Confinement = {
    disk: createDisk(systemClock),
    random: systemRandom,
    root,
    hidden: [`${root}/.volcanic`],
  };
  return { root, within, write, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

Deno.test("readSkillFiles() finds both kinds of folders, in order, the first of two with one name [§5.3 skills]", async () => {
  await using workspace = await makeWorkspace({
    "skills/pdf/SKILL.md": "---\nname: PDF\ndescription: >\n  Reads\n  PDFs.\n---\n# Body\n",
    "skills/bare/SKILL.md": "\n# Bare bones\nMore.\n",
    "skills/empty/SKILL.md": "",
    "skills/half/SKILL.md": "---\nname: Half\n---\n\nDoes a half.\n",
    "skills/none/README.md": "x",
    "skills/SKILL.md": "not in a folder",
    ".agents/skills/pdf/SKILL.md": "other",
    ".agents/skills/web/SKILL.md": "Searches.",
    ".agents/skills/deep/er/SKILL.md": "too deep",
  });
  deepStrictEqual(await readSkillFiles(workspace.within), [
    { id: "bare", name: "bare", description: "# Bare bones" },
    { id: "empty", name: "empty", description: "empty" },
    { id: "half", name: "Half", description: "Does a half." },
    { id: "pdf", name: "PDF", description: "Reads PDFs." },
    { id: "web", name: "web", description: "Searches." },
  ]);
});

Deno.test("readSkillFiles() finds nothing where there is nothing", async () => {
  await using workspace = await makeWorkspace({ "skills": "a file" });
  deepStrictEqual(await readSkillFiles(workspace.within), []);
});

Deno.test("readSkillFiles() takes an edit at once [§5.3 fresh]", async () => {
  await using workspace = await makeWorkspace({ "skills/a/SKILL.md": "One." });
  strictEqual((await readSkillFiles(workspace.within))[0]?.description, "One.");
  await workspace.write("skills/a/SKILL.md", "Two.");
  strictEqual((await readSkillFiles(workspace.within))[0]?.description, "Two.");
});

const links: readonly { name: string; to: string; at: string }[] = [
  { name: "the file is a link to our state", to: ".volcanic/a2a/secret.md", at: "skills/a/SKILL.md" },
  { name: "the file is a link inside", to: "real/SKILL.md", at: "skills/a/SKILL.md" },
  { name: "the skill's folder is a link", to: "real", at: "skills/b" },
  { name: "skills is a link", to: "linked", at: "skills" },
  { name: ".agents is a link", to: "linked/dot", at: ".agents" },
];

for (const { name, to, at } of links) {
  Deno.test(`readSkillFiles() shows nothing when ${name} [DM2 not-through-a-link]`, async () => {
    await using workspace = await makeWorkspace({
      "real/SKILL.md": "SECRET",
      "linked/a/SKILL.md": "SECRET",
      "linked/dot/skills/a/SKILL.md": "SECRET",
    });
    await Deno.mkdir(`${workspace.root}/${at}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.symlink(`${workspace.root}/${to}`, `${workspace.root}/${at}`);
    deepStrictEqual(await readSkillFiles(workspace.within), []);
  });
}

Deno.test("readSkillFiles() shows nothing of a FIFO, and does not wait for it [§4 odd-files-refused]", async () => {
  await using workspace = await makeWorkspace({ "skills/a/x": "" });
  await new Deno.Command("mkfifo", { args: [`${workspace.root}/skills/a/SKILL.md`] }).output();
  deepStrictEqual(await readSkillFiles(workspace.within), []);
});

Deno.test("readSkillFiles() bounds count and lengths, and removes control characters [§5.3 skills]", async () => {
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`skills/s${1000 + at}/SKILL.md`, "x"]));
  const long = `---\nname: "${"n".repeat(200)}\\u001b[31m"\ndescription: ${"d".repeat(2000)}\n---\n`;
  await using workspace = await makeWorkspace({ ...many, "skills/\x1b[2Ja\u202eb/SKILL.md": long });
  const skills = await readSkillFiles(workspace.within);
  strictEqual(skills.length, 100);
  const [odd] = skills;
  deepStrictEqual([odd?.id, [...odd?.name ?? ""].length, [...odd?.description ?? ""].length], ["[2Jab", 100, 1024]);
  ok(!/\p{Cc}/u.test(JSON.parse(JSON.stringify(odd!.name))));
});
