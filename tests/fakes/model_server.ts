import { type Dialect, type ModelReply, streamFrames } from "@tests/fakes/model_dialects.ts";

/** What a scripted server does with one request. */
export type ScriptedAnswer =
  | ModelReply & {
    /**
     * What comes in place of the end of the answer: the connection breaks; it ends as if all were said; nothing more comes;
     * something that is no answer.
     */
    readonly instead?: "break" | "end" | "hang" | "garbage";
  }
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

/** A request as it came. */
export interface ModelRequest {
  readonly dialect: Dialect;
  readonly headers: Headers;
  readonly url: string;
  // deno-lint-ignore no-explicit-any -- tests look at what each API has
  readonly body: any;
  /** Resolves when its client left before the answer was over. */
  readonly left: Promise<void>;
}

/** A server of a model on this machine. */
export interface ModelServer extends AsyncDisposable {
  /** Where it is, without a path. */
  readonly address: string;
  readonly requests: readonly ModelRequest[];
  /** Resolves when so many requests came. */
  came(count: number): Promise<void>;
}

/** Says what comes next: an answer a request, or a function of the request; one more than there are is HTTP 500. */
export type ModelScript = readonly ScriptedAnswer[] | ((request: ModelRequest, index: number) => ScriptedAnswer);

/** Starts a server that streams as four APIs do: which one is seen from the path that is asked for. */
export function startModelServer(script: ModelScript): ModelServer {
  const requests: ModelRequest[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const ended = new AbortController();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const left = Promise.withResolvers<void>();
    const { url, headers } = request;
    const seen = { dialect: dialectOf(url), headers, url, body: await request.json(), left: left.promise };
    requests.push(seen);
    for (const { count, resolve } of waiting) if (requests.length >= count) resolve();
    const index = requests.length - 1;
    const answer = typeof script === "function" ? script(seen, index) : script[index] ?? { status: 500, body: "{}" };
    if ("status" in answer) {
      const headers = { "content-type": "application/json", ...answer.headers };
      return new Response(answer.body ?? "{}", { status: answer.status, headers });
    }
    return streamed(seen.dialect, answer, { onLeft: left.resolve, ended: ended.signal });
  });
  return {
    address: `http://127.0.0.1:${server.addr.port}`,
    requests,
    came: (count) => new Promise((resolve) => requests.length >= count ? resolve() : waiting.push({ count, resolve })),
    async [Symbol.asyncDispose]() {
      ended.abort();
      await server.shutdown();
    },
  };
}

function dialectOf(url: string): Dialect {
  if (url.includes(":streamGenerateContent")) return "gemini";
  if (url.endsWith("/messages")) return "anthropic";
  return url.endsWith("/responses") ? "responses" : "chat";
}

function streamed(
  dialect: Dialect,
  answer: Extract<ScriptedAnswer, ModelReply>,
  { onLeft, ended }: { readonly onLeft: () => void; readonly ended: AbortSignal },
): Response {
  const { instead } = answer;
  const frames = [...streamFrames(dialect, answer)];
  if (instead !== undefined) frames.length = lastOfText(frames, answer) + 1;
  if (instead === "garbage") frames.push('data: {"broken": \n\n');
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (at < frames.length) return controller.enqueue(new TextEncoder().encode(frames[at++]));
      if (instead === "break") return controller.error(new Error("the connection breaks"));
      if (instead === "hang") await new Promise((resolve) => ended.addEventListener("abort", resolve));
      controller.close();
    },
    cancel: onLeft,
  }, { highWaterMark: 0 });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** Behind the last piece of text nothing comes: no end, no count of tokens. */
function lastOfText(frames: readonly string[], { text = [], reasoning }: ModelReply): number {
  const last = text.at(-1) ?? reasoning;
  return last === undefined ? -1 : frames.findIndex((frame) => frame.includes(JSON.stringify(last)));
}
