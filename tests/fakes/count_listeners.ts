/** Counts those who listen to a signal from now on. */
export function countListeners(signal: AbortSignal): () => number {
  const { addEventListener, removeEventListener } = signal;
  const listening = new Set<unknown>();
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    listening.add(args[1]);
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    listening.delete(args[1]);
    removeEventListener.apply(signal, args);
  };
  return () => listening.size;
}
