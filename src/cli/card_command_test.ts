import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";

const program = fileURLToPath(import.meta.resolve("@manifest").replace(/deno\.json$/, "main.ts"));

/** A workspace, and `card …` on it as a person would type it, with no right but to read that workspace. */
async function makeWorkspace() {
  const folder = await makeTempFolder();
  await Deno.mkdir(`${folder.path}/skills/pdf`, { recursive: true });
  await Deno.writeTextFile(`${folder.path}/PERSONA.md`, "Kind \x1b[31mand calm.\n");
  await Deno.writeTextFile(`${folder.path}/skills/pdf/SKILL.md`, "Reads PDFs.");
  const cardOf = async (path: string, ...args: readonly string[]) => {
    const rights = [`--allow-read=${folder.path}`, "--allow-env"];
    const command = ["run", "--no-prompt", "--quiet", ...rights, program, "card", "--workspace", path];
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [...command, ...args],
      env: { NO_COLOR: "1" },
      stdin: "null",
    }).output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    return { code, out: text(stdout), error: text(stderr) };
  };
  const card = (...args: readonly string[]) => cardOf(folder.path, ...args);
  return { root: folder.path, card, cardOf, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

Deno.test("card prints what strangers see, and with --caller-view what callers see [§3 card]", async () => {
  await using workspace = await makeWorkspace();
  const stranger = await workspace.card();
  deepStrictEqual([stranger.code, stranger.error], [0, ""]);
  ok(stranger.out.includes("name      Volcanic assistant\n"));
  ok(stranger.out.includes("address   http://127.0.0.1:5099/a2a  JSONRPC 1.0\n"));
  ok(stranger.out.includes("skill     chat: ") && !stranger.out.includes("Kind"));
  const caller = await workspace.card("--caller-view", "--listen", "[::]:6000");
  ok(caller.out.includes("about     Kind [31mand calm.\n") && caller.out.includes("skill     pdf: Reads PDFs.\n"));
  ok(caller.out.includes("address   http://[::1]:6000/a2a/v1  HTTP+JSON 1.0\n"));
});

Deno.test("card --json prints the card itself [§3 card]", async () => {
  await using workspace = await makeWorkspace();
  const given = ["--public-url", "https://peer.example.org/bo/", "--card-name", "Bo"];
  const { code, out } = await workspace.card("--json", "--caller-view", ...given);
  const card = JSON.parse(out);
  strictEqual(code, 0);
  deepStrictEqual([card.name, card.skills[0].id], ["Bo", "pdf"]);
  strictEqual(card.supportedInterfaces[1].url, "https://peer.example.org/bo/a2a/v1");
});

Deno.test("card of no folder is wrong usage, and says so [§3 card]", async () => {
  await using workspace = await makeWorkspace();
  const path = `${workspace.root}/none`;
  deepStrictEqual(await workspace.cardOf(path), {
    code: 2,
    out: "",
    error: `Cannot read ${path}: there is no such folder; name the workspace with --workspace DIR\n`,
  });
});
