import { join } from "node:path";
import { parseLine } from "@/sessions/transcript_line.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";

/** The transcripts of a workspace over its restarts: what was whole once stays, and no turn is run twice. */
export class StoredTranscripts {
  readonly #folder: string;
  /** Where the last whole line that was seen ends. */
  readonly #seen = new Map<string, number>();
  /** Turns by task and message. */
  readonly #turns = new Map<string, number>();
  readonly #torn = new Set<string>();

  constructor(workspace: string) {
    this.#folder = workspacePaths(workspace).sessions;
  }

  /** Reads on where the last call ended; gives what must never be. */
  async read(): Promise<readonly string[]> {
    const problems: string[] = [];
    for await (const { name } of Deno.readDir(this.#folder)) {
      using file = await Deno.open(join(this.#folder, name));
      const { size } = await file.stat();
      const from = this.#seen.get(name) ?? 0;
      if (size < from) problems.push(`${name} lost ${from - size} bytes of whole lines`);
      if (size <= from) continue;
      await file.seek(from, Deno.SeekMode.Start);
      const bytes = await new Response(file.readable).bytes();
      const end = bytes.lastIndexOf(10) + 1;
      for (const text of new TextDecoder().decode(bytes.subarray(0, end)).split("\n").slice(0, -1)) {
        problems.push(...this.#take(name, text));
      }
      this.#seen.set(name, from + end);
      if (end < bytes.length) this.#torn.add(`${name} ${from + end}`);
    }
    return problems;
  }

  /** How often the engine was given a message. */
  turnsOf(record: TaskRecord, messageId: string): number {
    return this.#turns.get(`${record.task.id} ${messageId}`) ?? 0;
  }

  /** How often the last line of a file was found cut off, as a kill may leave it. */
  get torn(): number {
    return this.#torn.size;
  }

  get turns(): number {
    return this.#turns.size;
  }

  #take(name: string, text: string): readonly string[] {
    const line = parseLine(text);
    if (line === undefined) return [`${name} has a torn line: ${text.slice(0, 80)}`];
    if (line.kind !== "turn") return [];
    const key = `${line.taskId} ${line.messageId}`;
    const count = (this.#turns.get(key) ?? 0) + 1;
    this.#turns.set(key, count);
    return count === 1 ? [] : [`${name}: message and task ${key} were run ${count} times`];
  }
}
