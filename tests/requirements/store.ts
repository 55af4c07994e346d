import type { Promised } from "./promised.ts";

/** Tasks on disk: records, journal, blobs, index, and what a crash leaves. */
export const storeRequirements: readonly Promised[] = [
  ["§4 tasks-from-memory", "A task is read from memory, not from disk, while a host runs"],
  ["§4 bad-task-file", "A task file that does not parse is as if absent, without a log line"],
  ["§5.5 durable-before-seen", "A status is durable before anyone sees it"],
  ["§5.5 disk-full-refused", "A full disk refuses a task before it is accepted"],
  ["§5.5 disk-full-retried", "After acceptance a commit is retried, and nothing unsaved is shown"],
  ["§5.5 dedupe", "The same message within 24 h returns the first task instead of running twice"],
  ["§5.5 dedupe-other-body", "Another body under the same messageId is refused"],
  ["§7 stored-tasks", "Over the limit of stored tasks the oldest finished one of the caller goes"],
  ["§7 retention", "What is older than the retention is pruned, never what runs, waits, is watched or owed"],
  ["§7 free-disk", "Under the floor of free disk no new task is accepted"],

  ["SM0 commit-fails", "What cannot be saved is not accepted before, and tried again after acceptance"],
  ["§15 written-once", "A reply of many chunks is written once"],

  ["DM5 shape", "A record on disk has the fields and form of the document"],
  ["DM5 newer-version", "A record of a higher version is left alone, and warned of once"],
  ["DM5 blobs", "Bytes over 32 KiB are stored beside the task, durable before the commit that names them"],
  ["DM5 orphan-blobs", "Blobs that no record names are swept at start"],
  ["DM5 bounds", "A record over its bounds is refused, naming the limit"],
  ["DM5 unreadable-kept", "An unreadable record is not found, and neither overwritten nor pruned"],
  ["DM6 group-commit", "Commits that wait for a flush go out together and resolve after one flush"],
  ["DM6 durability-process", "Durability process leaves the flush out"],
  ["DM6 checkpoint", "A journal is deleted only when all of its records are in their files, flushed"],
  ["DM6 rotation", "A new journal begins every 16 MiB"],
  ["DM6 back-pressure", "Over 64 MiB unflushed, commits wait"],
  ["DM6 replay", "Recovery takes a record of the journal when its rev is higher, once and again alike"],
  ["DM6 torn-last-line", "A cut last line of the last journal is dropped"],
  ["DM6 bad-line", "A bad line elsewhere costs that line only; the file is kept as .bad"],
  ["DM6 read-beside", "A reader beside a host lays the journal over the files and writes nothing"],
  ["DM6 index", "The index gives the same answers after a restart"],
  ["DM6 failed-write", "A failed write of the journal leaves no part of it in the way of the next"],

  ["SM8 1", "Killed before the commit of a new task: no task, nothing ran"],
  ["SM8 2", "Killed after the commit of a new task: it runs at the next start, once with dedupe"],
  ["SM8 3", "Killed in a turn: the task is failed at the next start, and never run again"],
  ["SM8 4", "Killed between transcript and commit: failed, and the transcript keeps the answer"],
  ["SM8 5", "Killed between commit and publish: terminal at the next start"],
  ["SM8 7", "Killed between blob and record: the sweep removes the blob"],
];
