/**
 * Resolves after what waits in the event loop had its turn, without a timer (about 30 µs).
 *
 * For loops that make many events without ever waiting: without it no abort, request or timer would be seen until they end.
 */
export async function letOthersRun(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  await new Promise<void>((resolve) => {
    port1.onmessage = () => resolve();
    port2.postMessage(null);
  });
  port1.close();
  port2.close();
}
