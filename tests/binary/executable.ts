import { fileURLToPath } from "node:url";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";

/** The executable, below the root of the project; set by `deno task test:binary` alone. */
const path = Deno.env.get("A2A_TEST_BINARY");

/**
 * True: this run is not about the executable. It is not enough that there is one: it may be older than the source.
 */
export const isSkipped = path === undefined;

if (isSkipped) console.info("tests/binary is skipped: deno task compile, then deno task test:binary");

const program = path === undefined ? "" : fileURLToPath(new URL(path, import.meta.resolve("@manifest")));

/** How the executable ended. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** A started executable. Disposing kills it. */
export interface Started extends AsyncDisposable {
  readonly pid: number;
  /** Reads standard output up to the first text that fits; rejects when it ends before. */
  readUntil(wanted: RegExp): Promise<string>;
  write(text: string): Promise<void>;
  closeInput(): Promise<void>;
  kill(signal: Deno.Signal): void;
  /** Its end, with all that it said. */
  readonly ended: Promise<Ended & { readonly signal: Deno.Signal | null }>;
}

/** An empty folder on a machine that has nothing: no programs, no settings, no home, temporary files in `temp`. */
export interface Machine extends AsyncDisposable {
  readonly workspace: string;
  readonly temp: string;
  /** Runs a command to its end; `input` comes on standard input. */
  run(
    args: readonly string[],
    more?: { readonly input?: string; readonly env?: Record<string, string> },
  ): Promise<Ended>;
  start(args: readonly string[]): Started;
}

/** Makes such a machine; its folders are removed when it is disposed of. */
export async function makeMachine(): Promise<Machine> {
  if (!await Deno.stat(program).then(({ isFile }) => isFile, () => false)) {
    throw new Error(`Cannot test the executable: ${program} is not there; run deno task compile`);
  }
  const folder = await makeTempFolder();
  const [workspace, temp] = [`${folder.path}/workspace`, `${folder.path}/temp`];
  await Promise.all([workspace, temp].map((each) => Deno.mkdir(each)));
  const start = (args: readonly string[], env: Record<string, string> = {}) =>
    startProgram({ args, cwd: folder.path, env: { PATH: `${folder.path}/no-programs`, TMPDIR: temp, ...env } });
  return {
    ...{ workspace, temp },
    async run(args, { input = "", env } = {}) {
      await using started = start(args, env);
      await started.write(input);
      await started.closeInput();
      const { code, out, error } = await started.ended;
      return { code, out, error };
    },
    start: (args) => start(args),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** One that lives longer hangs; it is killed, and its test fails. */
const lifeMsMax = 60_000;

function startProgram(
  { args, cwd, env }: { args: readonly string[]; cwd: string; env: Record<string, string> },
): Started {
  const child = new Deno.Command(program, {
    ...{ args: [...args], cwd, env, clearEnv: true },
    ...{ stdin: "piped", stdout: "piped", stderr: "piped" },
  }).spawn();
  const output = new TextCollector(child.stdout);
  const errors = new TextCollector(child.stderr);
  const input = child.stdin.getWriter();
  const closeInput = () => input.close().catch(() => {}); // it may be gone
  const kill = (signal: Deno.Signal) => {
    try {
      child.kill(signal);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it ended by itself
    }
  };
  const late = setTimeout(() => kill("SIGKILL"), lifeMsMax);
  const ended = Promise.all([child.status, output.all, errors.all]).then(([{ code, signal }, out, error]) => {
    clearTimeout(late);
    return { code, signal, out, error };
  });
  return {
    ...{ pid: child.pid, ended, kill, closeInput },
    readUntil: (wanted: RegExp) => output.readUntil(wanted),
    async write(text: string) {
      if (text !== "") await input.write(new TextEncoder().encode(text)).catch(() => {});
    },
    async [Symbol.asyncDispose]() {
      kill("SIGKILL");
      await ended;
      await closeInput();
    },
  };
}

/** The text of a stream as far as it came. */
class TextCollector {
  /** All of it. */
  readonly all: Promise<string>;
  #text = "";
  #isOver = false;
  #wake = Promise.withResolvers<void>();

  constructor(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.all = this.#collect(stream);
  }

  async readUntil(wanted: RegExp): Promise<string> {
    while (!wanted.test(this.#text)) {
      if (this.#isOver) throw new Error(`The executable ended without saying ${wanted}: ${this.#text}`);
      await this.#wake.promise;
    }
    return this.#text;
  }

  async #collect(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      this.#text += text;
      this.#wakeReaders();
    }
    this.#isOver = true;
    this.#wakeReaders();
    return this.#text;
  }

  #wakeReaders(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers<void>();
  }
}
