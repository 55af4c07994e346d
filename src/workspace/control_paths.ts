import { parsePathPattern, type PathPattern } from "@/path_pattern.ts";

/**
 * What tools of the owner obey merely because it is there: no caller may change it, not even with `access: "write"`
 * (threats.md).
 *
 * A name counts in every folder, since the owner may open any; with a slash before it, in the root only. Not among them are
 * `package.json`, `Makefile` and the like: they act when the owner says "build", and so does every line of source that a
 * partner was asked to change.
 */
const always: readonly string[] = [
  // Version control. A folder with a file HEAD may be a repository itself.
  ...[".git/", ".hg/", ".svn/", ".jj/", ".gitmodules", ".gitattributes", ".gitconfig", "/HEAD"],
  ...[".githooks/", ".husky/", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml"],
  // What assistants are told, and what they may start.
  ...["AGENTS.md", "AGENTS.override.md", "AGENT.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "SKILL.md"],
  ...["PERSONA.md", "MEMORY.md", "SOUL.md", "/skills/", ".agents/", ".claude/", ".codex/", ".gemini/", ".cursor/"],
  ...[".cursorrules", ".windsurf/", ".windsurfrules", ".clinerules", ".goosehints", ".roo/", ".aider.conf.yml", ".pi/"],
  ...["copilot-instructions.md", ".mcp.json", "mcp.json", "opencode.json", ".opencode/", ".qwen/", ".kiro/"],
  // Editors.
  ...[".vscode/", ".idea/", ".zed/", ".fleet/", ".devcontainer/", ".exrc", ".nvim.lua", ".nvimrc", ".dir-locals.el"],
  // Shells, and what acts on `cd`.
  ...[".envrc", ".env", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv"],
  ...[
    ".zprofile",
    ".zlogin",
    ".inputrc",
    ".mise.toml",
    "mise.toml",
    ".mise/",
    ".tool-versions",
    ".gdbinit",
    ".lldbinit",
  ],
  // Tools that start what these name, whatever they were called for.
  ...[".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".cargo/", ".netrc", ".ssh/", ".config/", ".local/"],
  // Machines that run what these say as soon as it is pushed.
  ...[".github/", ".gitlab-ci.yml", ".gitlab/", ".gitea/", ".forgejo/", ".circleci/", ".woodpecker/", ".buildkite/"],
  ...["Jenkinsfile", ".travis.yml", ".drone.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml"],
];

/** The same where only a part of the name is fixed. */
const byShape: readonly string[] = [".cursor*", ".devcontainer*", "*.code-workspace", ".woodpecker*", ".dir-locals*"];

/** The patterns of all control paths. */
export const controlPatterns: readonly PathPattern[] = [...always, ...byShape].map((text) => parsePathPattern(text)!);

/**
 * Control paths with one name, from the root, a folder with a slash at its end: what must not be made there either. A box makes
 * those that are missing mount points, for one that may write to the root.
 */
export const controlNames: readonly string[] = always.map((text) => text.replace(/^\//, ""));
