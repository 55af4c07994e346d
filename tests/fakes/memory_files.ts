import type { SessionFiles } from "@/engine/session_files.ts";

/** The files of a session in memory, by path: texts, and bytes with a media type. */
export interface MemoryFiles extends SessionFiles {
  readonly texts: Map<string, string>;
  /** What was done, in its order: `write a.txt`. */
  readonly log: readonly string[];
}

/** A file that is no text. */
export interface MemoryBytes {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mediaType: string;
}

const refused = (why: string) => ({ kind: "refused", why }) as const;

/** Makes the files of a session; a path below `secret/` is refused. `hold` is awaited before each change. */
export function memoryFiles(
  given: Readonly<Record<string, string | MemoryBytes>> = {},
  hold: (path: string) => Promise<void> = () => Promise.resolve(),
): MemoryFiles {
  const texts = new Map<string, string>();
  const others = new Map<string, MemoryBytes>();
  for (const [path, content] of Object.entries(given)) {
    if (typeof content === "string") texts.set(path, content);
    else others.set(path, content);
  }
  const log: string[] = [];
  const hidden = (path: string) => path.startsWith("secret/") ? refused(`${path} is not for you`) : undefined;
  return {
    texts,
    log,
    read(path, range) {
      const bytes = others.get(path);
      if (bytes !== undefined) return Promise.resolve({ kind: "bytes", ...bytes });
      const text = texts.get(path);
      if (hidden(path) || text === undefined) return Promise.resolve(hidden(path) ?? refused(`${path} is not there`));
      const lines = text.replace(/\n$/, "").split("\n");
      const from = range?.from ?? 1;
      const some = lines.slice(from - 1, from - 1 + (range?.count ?? 1e9));
      const isCut = from - 1 + some.length < lines.length;
      return Promise.resolve({ kind: "text", text: some.join("\n"), from, lines: lines.length, isCut });
    },
    async write(path, text) {
      log.push(`begin ${path}`);
      await hold(path);
      if (hidden(path)) return hidden(path)!;
      texts.set(path, text);
      log.push(`write ${path}`);
      return { kind: "done" };
    },
    async edit(path, change) {
      log.push(`begin ${path}`);
      await hold(path);
      const text = texts.get(path);
      if (text === undefined || !text.includes(change.old)) return refused(`the text stands nowhere in ${path}`);
      texts.set(path, change.all ? text.replaceAll(change.old, change.new) : text.replace(change.old, change.new));
      log.push(`edit ${path}`);
      return { kind: "done" };
    },
    list(path) {
      const names = [...texts.keys(), ...others.keys()].filter((name) => name.startsWith(path)).sort();
      return Promise.resolve({ kind: "entries", names, isCut: false });
    },
    search({ pattern }, signal) {
      signal.throwIfAborted();
      const matches = [...texts].flatMap(([path, text]) =>
        text.split("\n").flatMap((line, index) =>
          new RegExp(pattern).test(line) ? [{ path, line: index + 1, text: line }] : []
        )
      );
      return Promise.resolve({ kind: "found", matches, isCut: false });
    },
  };
}
