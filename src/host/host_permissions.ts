/**
 * The rights of the host's thread: to read and write its workspaces, to use the network as the process may, and nothing else
 * (product.md §4, compile.md).
 *
 * `net` is inherited: with a `--deny-net` for the process `true` would be an escalation. `env` is none: the main thread reads
 * the settings. `statfs` tells the free room; libraries ask for `hostname`.
 */
export function hostPermissions(folders: readonly string[]): Deno.PermissionOptionsObject {
  return {
    read: [...folders],
    write: [...folders],
    net: "inherit",
    run: false,
    env: false,
    sys: ["hostname", "statfs"],
    ffi: false,
    import: false,
  };
}
