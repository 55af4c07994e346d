/** A push as it arrived. */
export interface ReceivedPush {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** A receiver of pushes at a real socket of this machine. It takes all, and answers 204. */
export interface PushReceiver extends AsyncDisposable {
  /** Where its paths begin: `http://127.0.0.1:40001`. */
  readonly url: string;
  /** What came at a path so far, in order. */
  at(path: string): readonly ReceivedPush[];
  /** Resolves once so many came at a path; rejects when they do not come. */
  arrived(path: string, count: number): Promise<readonly ReceivedPush[]>;
}

/** After it a test fails rather than hangs. */
const patienceMs = 30_000;

/** Listens at a port that is free. */
export function startPushReceiver(): PushReceiver {
  const received: ReceivedPush[] = [];
  const waiting = new Set<() => void>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    received.push({ path: new URL(request.url).pathname, headers: request.headers, body: await request.text() });
    for (const look of waiting) look();
    return new Response(null, { status: 204 });
  });
  const at: PushReceiver["at"] = (path) => received.filter((push) => push.path === path);
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    at,
    arrived(path, count) {
      const { promise, resolve, reject } = Promise.withResolvers<readonly ReceivedPush[]>();
      const late = setTimeout(() => {
        reject(new Error(`${at(path).length} of ${count} pushes came at ${path} in ${patienceMs} ms`));
      }, patienceMs);
      const look = () => {
        if (at(path).length < count) return;
        waiting.delete(look);
        clearTimeout(late);
        resolve(at(path));
      };
      waiting.add(look);
      look();
      return promise;
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
