import { type Binding, bindings, wireRequest } from "@tests/fakes/wire_request.ts";
import type { Method } from "@/protocol/request_types.ts";
import type { BenchSetting } from "./bench_setting.ts";
import { loadHttp, type LoadRequest } from "./http_load.ts";
import { benchKeys, type HttpServer, startHttpServers } from "./http_servers.ts";
import type { Limit, Report, Row } from "./report.ts";
import { interleave, type Sample, type Samples, timed } from "./rounds.ts";

const lanes = 32;
const tasks = 1_000;
const chunkBytes = 100;
const settleMs = 2_500;
/** The SDK reads and stores the whole task at each chunk, so that 10,000 would take minutes. */
const chunks: Readonly<Record<string, number>> = { ours: 10_000, hono: 10_000, sdk: 500 };

/** What is asked many times. */
interface Operation {
  readonly name: string;
  readonly count: number;
  readonly method: Method;
  readonly key: string;
  readonly params: (server: HttpServer, number: number, lane: number) => unknown;
  readonly expect: string;
  readonly toHono?: Limit;
  readonly toSdk?: Limit;
}

const send = {
  ...{ count: 1_600, method: "SendMessage" as const, key: benchKeys.writer, expect: '"TASK_STATE_COMPLETED"' },
  toSdk: { atLeast: 3 },
} satisfies Partial<Operation>;

const operations: readonly Operation[] = [
  {
    ...{ name: "GetTask", count: 16_000, method: "GetTask", key: benchKeys.reader, expect: '"TASK_STATE_COMPLETED"' },
    params: ({ taskId }) => ({ id: taskId }),
    toHono: { atLeast: 0.5 },
  },
  {
    ...{ name: "ListTasks, 50 tasks", count: 1_600, method: "ListTasks", key: benchKeys.reader, expect: "1000" },
    params: () => ({ pageSize: 50, includeArtifacts: true }),
  },
  {
    ...{ ...send, name: "SendMessage, going on in a context" },
    params: (_, number, lane) => messageOf("Hello", { messageId: `m${number}`, contextId: `lane-${lane}` }),
  },
  {
    ...{ ...send, name: "SendMessage, each a new context" },
    params: (_, number) => messageOf("Hello", { messageId: `m${number}` }),
  },
];

/** The endpoints of the started program, beside bare routes of Hono and the SDK's handlers on express, over both bindings. */
export async function httpBench({ folder, rounds, share }: BenchSetting): Promise<Report> {
  await using servers = await startHttpServers(folder, tasks);
  const { ours, hono, sdk } = servers;
  const measured = Object.entries({ hono, ours, sdk }).filter(([, server]) => typeof server !== "string");
  const work = bindings.flatMap((binding) => [
    ...operations.flatMap((operation) =>
      measured.map(([name, server]) => async (): Promise<Sample> => ({
        [`${name} ${operation.name} ${binding}`]: await ask(server as HttpServer, { ...operation, binding, share }),
      }))
    ),
    ...measured.map(([name, server]) => async (): Promise<Sample> => ({
      [`${name} stream ${binding}`]: await stream(server as HttpServer, binding, Math.ceil(chunks[name]! / share)),
    })),
  ]);
  const samples = await interleave(rounds, work);
  const hasSdk = typeof sdk !== "string";
  const about = `Answers a second over HTTP on loopback, ${lanes} kept connections; streams one at a time, in chunks ` +
    `of ${chunkBytes} bytes. Ours is the started program with the faux engine, its tasks on disk, durable; the bare ` +
    "routes of Hono give the same answers and store nothing, and neither does the SDK's express server under Node." +
    (hasSdk ? "" : ` The SDK was left out: ${sdk}.`);
  const rows = [...operations, { name: "stream" }].flatMap((operation) =>
    bindings.flatMap((binding) => rowsOf(samples, { operation, binding, hasSdk }))
  );
  return { name: "http", about, rows };
}

interface RowsOptions {
  readonly operation: Pick<Operation, "name" | "toHono" | "toSdk">;
  readonly binding: Binding;
  readonly hasSdk: boolean;
}

function rowsOf(samples: Samples, { operation, binding, hasSdk }: RowsOptions): Row[] {
  const { name, toHono, toSdk } = operation;
  const of = (server: string) => `${server} ${name} ${binding}`;
  const unit = name === "stream" ? "chunks/s" : "/s";
  const what = name === "stream" ? `stream of ${chunks.ours} chunks` : name;
  const row = (server: string, whose: string, to?: [string, string, Limit | undefined]): Row => ({
    ...{ what: `${what}, ${binding}${whose}`, value: samples.median(of(server)), unit },
    ...(to !== undefined && { ratio: samples.ratio(of(server), of(to[0])), to: to[1], limit: to[2] }),
  });
  return [
    row("hono", ": bare Hono"),
    row("ours", "", ["hono", "bare Hono", toHono]),
    ...(hasSdk
      ? [
        row("sdk", name === "stream" ? `: the SDK, ${chunks.sdk} chunks` : ": the SDK"),
        row("ours", "", ["sdk", "the SDK on express", toSdk]),
      ]
      : []),
  ];
}

type Asked = Operation & { readonly binding: Binding; readonly share: number };

async function ask(server: HttpServer, { binding, share, count, method, key, params, expect }: Asked): Promise<number> {
  const request = (number: number, lane: number): LoadRequest =>
    loadRequest(binding, { method, key, params: params(server, number, lane) });
  const rate = await loadHttp({ address: server.address, count: count / share, lanes, request, expect });
  // Ours goes on for a while, to write tasks into their files: not at the cost of who is measured next.
  if (method === "SendMessage") await new Promise((resolve) => setTimeout(resolve, settleMs / share));
  return rate;
}

interface Call {
  readonly method: Method;
  readonly key: string;
  readonly params: unknown;
}

/** By hand: a Request of fetch for each would be most of the work. */
function loadRequest(binding: Binding, { method, key, params }: Call): LoadRequest {
  if (binding === "JSONRPC") {
    return { verb: "POST", path: "/a2a", key, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) };
  }
  switch (method) {
    case "GetTask":
      return { verb: "GET", path: `/a2a/v1/tasks/${(params as { id: string }).id}`, key };
    case "ListTasks":
      return { verb: "GET", path: "/a2a/v1/tasks?pageSize=50&includeArtifacts=true", key };
    default:
      return { verb: "POST", path: "/a2a/v1/message:send", key, body: JSON.stringify(params) };
  }
}

function messageOf(text: string, more: { readonly messageId: string; readonly contextId?: string }) {
  return { message: { role: "ROLE_USER", parts: [{ text }], ...more } };
}

/** Chunks a second of one stream, from the request to its end. */
async function stream({ address }: HttpServer, binding: Binding, count: number): Promise<number> {
  const params = messageOf(`stream: ${count} x ${chunkBytes}`, { messageId: "s" });
  const request = wireRequest(binding, { method: "SendStreamingMessage", params }, { key: benchKeys.writer });
  const body = await request.text();
  const pieces: Uint8Array[] = [];
  const ms = await timed(async () => {
    const url = address + new URL(request.url).pathname;
    const answer = await fetch(url, { method: "POST", headers: request.headers, body });
    for await (const piece of answer.body!) pieces.push(piece);
  });
  const text = await new Blob(pieces as BlobPart[]).text();
  if (!text.includes("TASK_STATE_COMPLETED") || text.length < count * chunkBytes) {
    throw new Error(`Expected a stream of ${count} chunks, got ${text.length} characters: ${text.slice(-1000)}`);
  }
  return count / ms * 1000;
}
