/**
 * Yields the messages that come on standard input: at a terminal each line that is not blank, with a prompt before it;
 * from a pipe or a file all of it as one.
 */
export async function* inputMessages(prompt: string): AsyncGenerator<string, void, void> {
  const isTerminal = Deno.stdin.isTerminal();
  const showPrompt = () => isTerminal && Deno.stderr.writeSync(new TextEncoder().encode(prompt));
  showPrompt();
  let rest = "";
  for await (const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    rest += chunk;
    if (!isTerminal) continue;
    const lines = rest.split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      if (line.trim() !== "") yield line;
      showPrompt();
    }
  }
  if (rest.trim() !== "") yield rest.replace(/\n+$/, "");
}

/** Calls `interrupt` on the first SIGINT; a second one ends the process as the system does. */
export function onInterrupt(interrupt: () => void): Disposable {
  let isOn = true;
  const stop = () => {
    if (isOn) Deno.removeSignalListener("SIGINT", listener);
    isOn = false;
  };
  const listener = () => {
    stop();
    interrupt();
  };
  Deno.addSignalListener("SIGINT", listener);
  return { [Symbol.dispose]: stop };
}

/** Says whether a person reads standard output; else a program or a file does. */
export function isOutputTerminal(): boolean {
  return Deno.stdout.isTerminal();
}

/** Calls `onSignal` for each TERM and INT that the process gets, until it is disposed of. */
export function listenToSignals(onSignal: () => void): Disposable {
  const signals: readonly Deno.Signal[] = Deno.build.os === "windows" ? ["SIGINT"] : ["SIGINT", "SIGTERM"];
  for (const signal of signals) Deno.addSignalListener(signal, onSignal);
  return {
    [Symbol.dispose]() {
      for (const signal of signals) Deno.removeSignalListener(signal, onSignal);
    },
  };
}

/** How this program is called: by its own name when it is an executable, else as a task of its checkout. */
export function programName(): string {
  return Deno.build.standalone ? "volcanic-a2a" : "deno task start";
}

/** A word of a shell's command line. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
