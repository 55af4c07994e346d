import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { ExchangeSocket } from "./exchange_socket.ts";

/** A connection of TLS whose handshake and writes end when they are told to, or when it is closed. */
function makeSecured() {
  const [shaken, written] = [Promise.withResolvers<void>(), Promise.withResolvers<number>()];
  const seen = { closed: 0 };
  const secured = {
    handshake: () => shaken.promise,
    write: () => written.promise,
    close() {
      seen.closed++;
      shaken.reject(new Deno.errors.Interrupted("closed"));
      written.reject(new Deno.errors.Interrupted("closed"));
    },
  };
  shaken.promise.catch(() => {});
  written.promise.catch(() => {});
  return { secured: secured as unknown as Deno.TlsConn, shaken, written, seen };
}

/** Gives `secured` for what TLS is started on, until it is disposed of. */
function takeStartTls(secured: Promise<Deno.TlsConn>) {
  const { startTls } = Deno;
  Object.assign(Deno, { startTls: () => secured });
  return { [Symbol.dispose]: () => void Object.assign(Deno, { startTls }) };
}

const plain = { close: () => {} } as unknown as Deno.TcpConn;

Deno.test("ExchangeSocket close() waits for TLS that is about to begin, and closes what becomes of it [§13 ends-whole]", async () => {
  const clock = createTestClock();
  const { secured, seen } = makeSecured();
  const started = Promise.withResolvers<Deno.TlsConn>();
  using _tls = takeStartTls(started.promise);
  const socket = new ExchangeSocket();
  socket.use(plain);
  const failing = rejects(socket.startTls(plain, {}), Deno.errors.Interrupted);
  let isOver = false;
  const closing = socket.close().then(() => isOver = true);
  await clock.settle();
  strictEqual(isOver, false);
  started.resolve(secured);
  await Promise.all([closing, failing]);
  deepStrictEqual([seen.closed, socket.isLeft], [1, true]);
});

Deno.test("ExchangeSocket is left when it is closed within the handshake or a write of TLS, and not after [§13 left-bounded]", async () => {
  type Made = ReturnType<typeof makeSecured>;
  const rows: readonly { step: string; isLeft: boolean; shake: (made: Made) => void; write?: (made: Made) => void }[] =
    [
      { step: "handshake", isLeft: true, shake: () => {} },
      { step: "failed handshake", isLeft: false, shake: ({ shaken }) => shaken.reject(new Error("no certificate")) },
      { step: "nothing written", isLeft: false, shake: ({ shaken }) => shaken.resolve() },
      { step: "write", isLeft: true, shake: ({ shaken }) => shaken.resolve(), write: () => {} },
      ...[
        { step: "whole write", write: ({ written }: Made) => written.resolve(5) },
        { step: "failed write", write: ({ written }: Made) => written.reject(new Error("gone")) },
      ].map((row) => ({ ...row, isLeft: false, shake: ({ shaken }: Made) => shaken.resolve() })),
    ];
  for (const { step, isLeft, shake, write } of rows) {
    const made = makeSecured();
    using _tls = takeStartTls(Promise.resolve(made.secured));
    const socket = new ExchangeSocket();
    const work = [socket.startTls(plain, {}).catch(() => {})];
    shake(made);
    await createTestClock().settle();
    if (write !== undefined) work.push(socket.write(new Uint8Array(5)).catch(() => {}));
    write?.(made);
    await createTestClock().settle();
    await socket.close();
    await socket.close();
    strictEqual(socket.isLeft, isLeft, step);
    await Promise.all(work);
  }
});

Deno.test("ExchangeSocket without TLS is never left: the kernel has what was written", async () => {
  const { secured } = makeSecured();
  const socket = new ExchangeSocket();
  socket.use(secured);
  const writing = rejects(socket.write(new Uint8Array(5)), Deno.errors.Interrupted);
  await socket.close();
  await writing;
  strictEqual(socket.isLeft, false);
});
