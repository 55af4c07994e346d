import type { FileTaskStore } from "@/server/tasks/file_task_store.ts";
import type { ListQuery } from "@/server/tasks/task_store.ts";
import type { BenchSetting } from "./bench_setting.ts";
import { openBenchStore } from "./bench_store.ts";
import { benchCaller, contextOf } from "./made_tasks.ts";
import type { Report, Row } from "./report.ts";
import { interleave, type Sample, timed } from "./rounds.ts";

const few = 1_000;
const pageSize = 50;
/** Pages whose records were not read before, in one piece of work; the small store has 18 of completed tasks. */
const freshPages = 16;
const cachedPages = 3_000;

interface Filter {
  readonly name: string;
  /** Product.md §15 limits its ratio. */
  readonly isPromised: boolean;
  /** The query of the page that begins where `tasksSeen` tasks of this walk were seen. */
  readonly query: (tasksSeen: number) => Partial<ListQuery>;
}

const filters: readonly Filter[] = [
  { name: "no filter", isPromised: true, query: () => ({}) },
  { name: "by context", isPromised: true, query: (tasksSeen) => ({ contextId: contextOf(tasksSeen) }) },
  { name: "by state", isPromised: false, query: () => ({ state: "TASK_STATE_COMPLETED" }) },
];

/** A page of `ListTasks` over many tasks beside one over few. */
export async function listBench({ folder, rounds, share }: BenchSetting): Promise<Report> {
  const many = 100_000 / share;
  const rows: Row[] = [];
  for (const filter of filters) {
    await using large = await openIndexed(await folder.tasks(many));
    // Another one, in whose cache are as many records as in the small store's: a fuller cache is slower for itself.
    await using warm = await openIndexed(await folder.tasks(many));
    await nextPages(warm, filter, start);
    let walk: Walk = start;
    const smallPath = await folder.tasks(few);
    const samples = await interleave(rounds, [
      async () => {
        await using small = await openIndexed(smallPath);
        const { ms } = await nextPages(small, filter, start);
        return { "few fresh": ms, "few cached": await samePage(small, filter) };
      },
      async (): Promise<Sample> => {
        const { ms, ...there } = await nextPages(large, filter, walk);
        walk = there;
        return { "many fresh": ms };
      },
      async () => ({ "many cached": await samePage(warm, filter) }),
    ]);
    rows.push(...rowsOf(filter, many, (kind) => ({
      ratio: samples.ratio(`many ${kind}`, `few ${kind}`),
      value: samples.median(`many ${kind}`),
      few: samples.median(`few ${kind}`),
    })));
  }
  const about = `One page of ${pageSize} tasks of one caller, the index built. "From files": none of the records was ` +
    'read before; "from memory": all are in the record cache. Files are in the system\'s page cache.';
  return { name: "list", about, rows };
}

function rowsOf(
  filter: Filter,
  many: number,
  measured: (kind: string) => { ratio: number; value: number; few: number },
) {
  return [["fresh", "from files"], ["cached", "from memory"]].flatMap(([kind, words]): Row[] => {
    const { ratio, value, few: small } = measured(kind!);
    const row = { what: `${filter.name}, ${many} tasks, ${words}`, ratio, to: `${few} tasks`, value, unit: "ms" };
    return [
      { what: `${filter.name}, ${few} tasks, ${words}`, value: small, unit: "ms" },
      filter.isPromised ? { ...row, limit: { atMost: 1.5 } } : row,
    ];
  });
}

async function openIndexed(path: string): Promise<FileTaskStore> {
  const store = await openBenchStore(path);
  await store.indexed;
  return store;
}

const start: Walk = { tasksSeen: 0, token: "" };

/** How far the walk over a store has come. */
interface Walk {
  readonly tasksSeen: number;
  readonly token: string;
}

/** Milliseconds a page over the next pages of a walk, and where it stands then. No page was read before. */
async function nextPages(store: FileTaskStore, { query }: Filter, walk: Walk): Promise<Walk & { readonly ms: number }> {
  let { tasksSeen, token } = walk;
  const ms = await timed(async () => {
    for (let count = 0; count < freshPages; count++) {
      const page = await store.list({ caller: benchCaller, pageSize, pageToken: token, ...query(tasksSeen) });
      if (page.kind !== "page" || page.tasks.length !== pageSize) throw new Error("Cannot list: a page is not full");
      tasksSeen += pageSize;
      token = page.next;
    }
  });
  return { ms: ms / freshPages, tasksSeen, token };
}

async function samePage(store: FileTaskStore, filter: Filter): Promise<number> {
  const query = { caller: benchCaller, pageSize, pageToken: "", ...filter.query(0) };
  await store.list(query);
  const ms = await timed(async () => {
    for (let page = 0; page < cachedPages; page++) await store.list(query);
  });
  return ms / cachedPages;
}
