import { join } from "node:path";
import type { CallerName, TaskId } from "@/protocol/ids.ts";

/** Every path of a workspace that we read or write, absolute (data-model.md). */
export interface WorkspacePaths {
  readonly root: string;
  /** `.volcanic`: hidden from every box and every path from outside. */
  readonly volcanic: string;
  readonly a2a: string;
  readonly tasks: string;
  readonly sessions: string;
  /** What the box shows in the place of files of the machine. */
  readonly box: string;
  /** Where `file:` keys may always be (data-model.md 3). */
  readonly secrets: string;
  readonly callersFile: string;
  readonly agentsFile: string;
  readonly cardFile: string;
  readonly pendingFile: string;
  readonly hostFile: string;
  readonly controlToken: string;
  /** What all signing secrets are made from. */
  readonly webhookSecret: string;
  readonly hostLock: string;
  readonly watchLock: string;
  readonly pendingLock: string;
  readonly editLock: string;
  readonly notifications: string;
  readonly audit: string;
  readonly inbox: string;
  readonly work: string;
  /** What agents sent: a folder a task, named by `remoteTaskFolder`. */
  readonly agentsInbox: string;
  /** What a caller sent with one task. */
  inboxOf(caller: CallerName, taskId: TaskId): string;
  /** What a caller sent, all tasks: what its box sees as `inbox/`. */
  inboxOf(caller: CallerName): string;
  /** What a caller's sessions make. */
  workOf(caller: CallerName): string;
}

/**
 * The paths below a workspace's folder, which is absolute and has its links followed.
 *
 * A local caller's folders are called as it is, `@<workspace>`: `@` is a plain character in all file systems and in no
 * other caller's name, so no two callers share a folder, and `a2a` in `inbox/` is a reserved name.
 */
export function workspacePaths(root: string): WorkspacePaths {
  const volcanic = join(root, ".volcanic");
  const a2a = join(volcanic, "a2a");
  const inbox = join(root, "inbox");
  const work = join(root, "work");
  return {
    root,
    volcanic,
    a2a,
    tasks: join(a2a, "tasks"),
    sessions: join(volcanic, "sessions"),
    box: join(volcanic, "box"),
    secrets: join(volcanic, "secrets"),
    callersFile: join(a2a, "callers.json"),
    agentsFile: join(a2a, "agents.json"),
    cardFile: join(a2a, "card.json"),
    pendingFile: join(a2a, "pending.json"),
    hostFile: join(a2a, "host.json"),
    controlToken: join(a2a, "control.token"),
    webhookSecret: join(a2a, "webhook.secret"),
    hostLock: join(a2a, "host.lock"),
    watchLock: join(a2a, "watch.lock"),
    pendingLock: join(a2a, "pending.lock"),
    editLock: join(a2a, "edit.lock"),
    notifications: join(a2a, "notifications.jsonl"),
    audit: join(a2a, "audit.jsonl"),
    inbox,
    work,
    agentsInbox: join(inbox, "a2a"),
    inboxOf: (caller: CallerName, taskId?: TaskId) => join(inbox, folderOf(caller), ...(taskId ? [taskId] : [])),
    workOf: (caller) => join(work, folderOf(caller)),
  };
}

/** Brands are promises of the type checker only; a folder is worth a look. */
function folderOf(caller: CallerName): string {
  if (!/^@?[a-z0-9-]{1,40}$/.test(caller) || caller === "a2a") {
    throw new RangeError(`Cannot make the folder of a caller: ${JSON.stringify(caller)} is no caller's name`);
  }
  return caller;
}
