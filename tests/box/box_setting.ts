import { dirname, join } from "node:path";
import { probeBox, type ProvenBox } from "@/cli/box/box_probe.ts";
import { ProgramStarter } from "@/cli/box/program_starter.ts";
import { type Config, readConfig } from "@/config.ts";
import type { ProgramEnd } from "@/engine/programs.ts";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";

const parts = { disk: createDisk(systemClock), clock: systemClock, random: systemRandom };

/** The machine's own box, tried once; where it does not hold, why. */
export const machineBox = await probeBox({ ...parts, folder: "/tmp" });

/** For `Deno.test`: tests of a real box are passed over where there is none, and say so. */
export const needsBox = { ignore: machineBox.kind === "none" };
// A canary that gets out is our fault, and no reason to pass anything over.
if (machineBox.kind === "none" && !/^(?:bwrap|prlimit|there is no bwrap)/.test(machineBox.why)) {
  throw new Error(machineBox.why);
}
// deno-lint-ignore no-console
if (machineBox.kind === "none") console.warn(`Tests of the box are passed over: ${machineBox.why}`);

/** What a program said and how it ended. */
export interface RunResult extends ProgramEnd {
  readonly out: string;
  readonly error: string;
}

/** A workspace with secrets, two callers and a partner, and what starts programs in it. */
export interface BoxSetting extends AsyncDisposable {
  readonly root: string;
  readonly starter: ProgramStarter;
  /** Runs a bash command as a caller, to its end. Throws the refusal's sentence. */
  bash(command: string, how?: { readonly caller?: string; readonly timeoutMs?: number }): Promise<RunResult>;
}

/** Makes the setting. `files`: more of them, by path; `settings` by flag name; `box`: undefined for none. */
export async function makeBoxSetting(
  { files = {}, settings = {}, ...more }: {
    readonly files?: Readonly<Record<string, string>>;
    readonly settings?: Readonly<Record<string, string>>;
    readonly box?: ProvenBox;
  } = {},
): Promise<BoxSetting> {
  const folder = await makeTempFolder();
  const root = join(folder.path, "home");
  for (const [path, text] of Object.entries({ ...secretFiles, ...files })) {
    await Deno.mkdir(dirname(join(root, path)), { recursive: true });
    await Deno.writeTextFile(join(root, path), text);
  }
  const box = "box" in more ? more.box : machineBox as ProvenBox;
  const workspaces = [{ name: "home", folder: root }];
  const starter = new ProgramStarter({ ...parts, workspaces, config: configOf(settings), box });
  return {
    root,
    starter,
    bash: (command, how) => runBash(starter, command, how),
    async [Symbol.asyncDispose]() {
      await starter[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** What must not come out of a box of the caller `mallory`; each holds the word `s3cret`. */
export const secretFiles: Readonly<Record<string, string>> = {
  "README.md": "for everyone\n",
  "notes/plan.md": "for everyone, too\n",
  ".env": "KEY=s3cret-env",
  "deploy/server.pem": "s3cret-pem",
  "deep/er/id_rsa": "s3cret-rsa",
  ".netrc": "s3cret-netrc",
  ".git/config": "[remote]\n url = https://u:s3cret-git@x\n",
  ".git/HEAD": "ref: refs/heads/main\n",
  "AGENTS.md": "as they are\n",
  ".volcanic/a2a/callers.json": JSON.stringify([
    { name: "mallory", key: "s3cret-key-of-mallory" },
    { name: "alice", key: "s3cret-key-of-alice" },
    { name: "partner", key: "s3cret-key-of-partner", access: "write" },
    { name: "online", key: "s3cret-key-of-online", network: true },
    { name: "small", key: "s3cret-key-of-small", limits: { diskBytes: 1_000_000 } },
  ]),
  ".volcanic/a2a/agents.json": '[{"name":"x","key":"s3cret-agent"}]',
  ".volcanic/a2a/webhook.secret": "s3cret-webhook",
  ".volcanic/sessions/ws-a2a-alice_c.jsonl": "s3cret-transcript",
  "inbox/alice/t/file.txt": "s3cret-inbox",
  "inbox/a2a/t/file.txt": "s3cret-agents-inbox",
  "work/alice/made.txt": "s3cret-work",
};

function configOf(flags: Readonly<Record<string, string>>): Config {
  const read = readConfig({ flags });
  if (read.kind === "problems") throw new Error(read.problems.join("; "));
  return read.config;
}

async function runBash(
  starter: ProgramStarter,
  command: string,
  { caller = "mallory", timeoutMs = 20_000 }: { readonly caller?: string; readonly timeoutMs?: number } = {},
): Promise<RunResult> {
  const program = { kind: "bash" as const, command: ["bash", "-c", command], timeoutMs };
  const answer = await starter.start({ kind: "start program", workspace: "home", caller, contextId: "c", program });
  if (answer.kind === "refused") throw new Error(answer.why);
  const [out, error, end] = await Promise.all([
    new Response(answer.stdout).text(),
    new Response(answer.stderr).text(),
    starter.ended(answer.id),
    answer.stdin.close().catch(() => {}),
  ]);
  return { out, error, ...end };
}
