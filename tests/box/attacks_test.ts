import { match, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { controlNames } from "@/workspace/control_paths.ts";
import { makeBoxSetting, needsBox, secretFiles } from "./box_setting.ts";

/** What a hostile caller tries to read; nothing of it may hold the word that all secrets hold. */
const readings: readonly { readonly what: string; readonly command: string }[] = [
  ...Object.keys(secretFiles).filter((path) => secretFiles[path]!.includes("s3cret")).map((path) => ({
    what: `read ${path}`,
    command: `cat ${path}; cat "$PWD/${path}"; cd notes && cat ../${path}`,
  })),
  { what: "search the whole workspace", command: "grep -ra s3cret . ; find . -type f -exec cat {} +" },
  {
    what: "search the whole box, environment and processes included",
    command:
      "cat /proc/*/environ /proc/*/cmdline /proc/*/maps 2>/dev/null | tr '\\0' '\\n' | grep -a s3cr[e]t; env | grep s3cr[e]t;" +
      "timeout 10 grep -rasl s3cr[e]t /home /tmp /etc /session /root /workspace /dev/shm /run /var 2>/dev/null",
  },
  {
    what: "reach files by a link",
    command: "ln -s /workspace/.volcanic work/mallory/l; cat work/mallory/l/a2a/callers.json",
  },
  { what: "reach files by a hard link", command: "ln .env work/mallory/l; cat work/mallory/l" },
  { what: "unmount what hides", command: "umount .volcanic; umount .env; cat .env; cat .volcanic/a2a/*" },
  {
    what: "mount over it in namespaces of its own",
    command: "unshare -rm sh -c 'umount /workspace/.volcanic; cat .volcanic/a2a/*'",
  },
  {
    what: "go by the processes' own roots",
    command: "cat /proc/1/root/workspace/.env /proc/1/cwd/.env /proc/self/root/workspace/.volcanic/a2a/*",
  },
  {
    what: "read the machine's other folders",
    command: "ls /root /home/* /var /run /mnt /srv 2>/dev/null | grep -v agent; cat /etc/shadow",
  },
  { what: "see other callers' names", command: "ls work inbox | grep -E 'alice|a2a' && echo s3cret" },
  {
    what: "have open files of the host",
    command: "for f in /proc/self/fd/*; do readlink $f; done | grep -vE 'pipe|/proc|null' && echo s3cret",
  },
];

for (const { what, command } of readings) {
  Deno.test(`a caller's program cannot ${what} [§6 box-attacks]`, needsBox, async () => {
    await using box = await makeBoxSetting();
    const { out, error } = await box.bash(command);
    strictEqual(`${out}${error}`.includes("s3cret"), false, out.slice(0, 500));
  });
}

/** What it tries to change; the command says `changed` when it could. */
const changes: readonly { readonly what: string; readonly command: string; readonly caller?: string }[] = [
  { what: "write into the workspace", command: "echo x > README.md && echo changed; touch new && echo changed" },
  { what: "remove from the workspace", command: "rm -rf notes && echo changed" },
  { what: "move the workspace's folders", command: "mv notes other && echo changed; mv .volcanic v && echo changed" },
  { what: "write over a hidden file", command: "echo x > .env && echo changed; rm .env && echo changed" },
  { what: "write into state", command: "echo x > .volcanic/x && echo changed; mkdir -p .volcanic/a2a && echo changed" },
  {
    what: "make another caller's folder",
    command: "mkdir work/alice && echo changed; mkdir inbox/a2a && echo changed",
  },
  {
    what: "make a device",
    command: "mknod work/mallory/d c 1 3 && echo changed; mknod work/mallory/b b 8 0 && echo changed",
  },
  {
    what: "write to the machine",
    command: "touch /usr/x && echo changed; touch /etc/x && echo changed; touch /x && echo changed",
  },
  { what: "fill memory beside its folders", command: "touch /dev/x && echo changed; mkdir /y && echo changed" },
  { what: "make itself root", command: "unshare -r true && echo changed; chroot / true && echo changed" },
  { what: "change the machine's name", command: "hostname x && echo changed" },
  {
    what: "signal a process outside",
    command:
      "for p in $(seq 3 40000); do kill -0 $p 2>/dev/null && [ $p != $$ ] && [ $p != $BASHPID ] && echo changed; done; true",
  },
];

for (const { what, command, caller } of changes) {
  Deno.test(`a caller's program cannot ${what} [§6 box-attacks]`, needsBox, async () => {
    await using box = await makeBoxSetting();
    const { out } = await box.bash(command, { caller });
    strictEqual(out, "");
  });
}

for (const caller of ["mallory", "partner"]) {
  for (const path of controlNames) {
    const name = path.replace(/\/$/, "");
    Deno.test(`${caller}'s program cannot plant ${path} [§6 box-attacks]`, needsBox, async () => {
      await using box = await makeBoxSetting();
      const before = await Deno.lstat(join(box.root, name)).then(() => true, () => false);
      const { out } = await box.bash(
        `n='${name}'; (echo evil > "$n") && echo changed; (mkdir -p "$n" && echo evil > "$n/evil") && echo changed;` +
          `(rm -rf "$n" 2>&1; mv "$n" away 2>&1; ln -s README.md "$n" 2>&1) | grep -v : ; cat "$n" "$n"/* 2>/dev/null | grep evil`,
        { caller },
      );
      strictEqual(out, "");
      if (!before) return;
      strictEqual((await Deno.lstat(join(box.root, name))).isSymlink, false);
    });
  }
}

Deno.test(
  'with access "write" a program changes ordinary files, and the owner\'s git and shell do not notice [§6 box-attacks]',
  needsBox,
  async () => {
    await using box = await makeBoxSetting();
    const marker = join(box.root, "marker");
    const { out } = await box.bash(
      `echo mine > README.md; mkdir src; echo new > src/x; cat README.md src/x;
     printf '[core]\\n fsmonitor = touch ${marker}\\n' > .git/config; mkdir -p .git/hooks; echo 'touch ${marker}' > .git/hooks/post-index-change;
     for f in .bashrc .bash_profile .profile .envrc; do echo 'touch ${marker}' > $f; done 2>/dev/null; true`,
      { caller: "partner" },
    );
    strictEqual(out, "mine\nnew\n");
    strictEqual(await Deno.readTextFile(join(box.root, "src/x")), "new\n");
    for (const [program, ...args] of [["git", "status"], ["bash", "-lic", "true"]]) {
      await new Deno.Command(program!, { args, cwd: box.root, env: { HOME: box.root }, stdout: "null", stderr: "null" })
        .output();
    }
    strictEqual(await Deno.lstat(marker).then(() => true, () => false), false);
  },
);

Deno.test("a caller's program sees no pipe or socket of the owner's [§6 box-attacks]", needsBox, async () => {
  await using box = await makeBoxSetting();
  using listener = Deno.listen({ transport: "unix", path: join(box.root, "agent.sock") });
  await new Deno.Command("mkfifo", { args: [join(box.root, "pipe")] }).output();
  const { out } = await box.bash("test -S agent.sock && echo socket; test -p pipe && echo pipe; ls");
  strictEqual(/^(socket|pipe)$/m.test(out.split("agent.sock")[0]!), false, out);
  void listener;
});

Deno.test(
  "a caller's program reaches no service of this machine, unless its entry says network [§6 box-attacks]",
  needsBox,
  async () => {
    await using box = await makeBoxSetting();
    await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, () => new Response("s3cret"));
    const command =
      `exec 3<>/dev/tcp/127.0.0.1/${server.addr.port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`;
    const shut = await box.bash(command);
    strictEqual(shut.out.includes("s3cret"), false);
    match((await box.bash(command, { caller: "online" })).out, /s3cret/);
  },
);
