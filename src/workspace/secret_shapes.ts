import { parsePathPattern, type PathPattern } from "@/path_pattern.ts";

/**
 * Files that hold secrets by what they are called, hidden from callers wherever they are (product.md §6). Only what is a secret
 * under any circumstances: `auth.json` alone may be anything.
 */
export const secretShapes: readonly PathPattern[] = [
  ...[".env*", "*.env", ".netrc", "_netrc", ".pgpass", ".my.cnf", ".mylogin.cnf", ".htpasswd", ".vault-token"],
  // Keys and stores of keys.
  ...[
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
  ],
  ...[".ssh", ".gnupg", ".password-store", "*.tfstate", "*.tfstate.backup"],
  // Version control: the address of a remote may hold its password.
  ...[".git/config", ".git/config.worktree", ".git/modules/**/config", ".git-credentials", ".hg/hgrc"],
  // Registries and clouds.
  ...[
    ".npmrc",
    ".pypirc",
    ".dockercfg",
    ".docker/config.json",
    ".kube",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
  ],
  // Logins of agents, when the workspace is somebody's home.
  ...[".claude.json", ".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json"],
  // What was typed.
  ...[".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history", ".node_repl_history"],
].map((text) => parsePathPattern(text)!);
