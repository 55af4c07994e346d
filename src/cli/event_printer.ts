import type { EngineEvent } from "@/engine/engine.ts";
import type { PartJson, StreamJson } from "@/protocol/task.ts";
import type { Output } from "./output.ts";
import { stateWord } from "./tasks_command.ts";

/**
 * Prints the events of a task as they come: readable lines, or with `--json` the events as the wire has them, one a line.
 *
 * Text of the answer is printed line by line; what has no line end yet comes with the end of the answer.
 */
export class EventPrinter {
  readonly #output: Output;
  #text = "";

  constructor(output: Output) {
    this.#output = output;
  }

  /** What everyone who follows the task sees. */
  print(event: StreamJson): void {
    if (this.#output.wantsJson) return this.#output.json(event);
    if ("task" in event) {
      const { id, contextId, status } = event.task;
      return this.#note(`task ${id} in context ${contextId}: ${stateWord(status.state)}`);
    }
    if ("statusUpdate" in event) {
      const { state, message } = event.statusUpdate.status;
      const said = message === undefined ? "" : `: ${message.parts.map(({ text }) => text ?? "").join("")}`;
      this.#flush();
      return this.#note(stateWord(state) + said);
    }
    const { artifact, append, lastChunk } = event.artifactUpdate;
    for (const part of artifact.parts) this.#part(part, append ?? false);
    if (lastChunk) this.#flush();
  }

  /** What only the owner sees: tools at work, reasoning. With `--json` nothing. */
  observe(event: EngineEvent): void {
    if (this.#output.wantsJson) return;
    if (event.kind === "tool") this.#note(`tool ${event.name} ${event.phase}: ${event.summary}`);
    if (event.kind === "aside") this.#note(`${event.of}: ${event.text}`);
  }

  #part(part: PartJson, append: boolean): void {
    if (part.text === undefined) {
      const bytes = typeof part.raw === "object" ? part.raw.bytes : Uint8Array.fromBase64(part.raw ?? "").length;
      return this.#note(`file ${part.filename}, ${bytes} bytes, ${part.mediaType}`);
    }
    if (!append) this.#flush();
    const lines = (this.#text + part.text).split("\n");
    this.#text = lines.pop()!;
    for (const line of lines) this.#output.line(line);
  }

  #flush(): void {
    if (this.#text !== "") this.#output.line(this.#text);
    this.#text = "";
  }

  #note(text: string): void {
    this.#output.line(this.#output.dim(`· ${text}`));
  }
}
