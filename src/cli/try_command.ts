import { basename } from "node:path";
import { type Host, openHost } from "@/workspace_host.ts";
import { Counters } from "@/counters.ts";
import { createFauxEngine } from "@/engine/faux_engine.ts";
import { configuredOutbound } from "@/configured_outbound.ts";
import { isContextId, isTaskId, parseCallerName } from "@/protocol/ids.ts";
import type { MessageJson, PartJson, TaskJson } from "@/protocol/task.ts";
import { mediaTypeOf } from "@/workspace/media_types.ts";
import type { TryArguments } from "./arguments.ts";
import { type CommandContext, type ExitCode, exitCodes } from "./command_context.ts";
import { EventPrinter } from "./event_printer.ts";
import { inputMessages, onInterrupt } from "./terminal.ts";

/**
 * Runs messages through a workspace here and now, without a listener: the message becomes a task, a turn of the `faux`
 * engine, an answer, all of it stored as a host stores it, and the events are printed.
 *
 * Without a message it takes them from standard input: a line each at a terminal, else all of it as one. They go on with
 * the conversation, and what follows a question answers it. An interrupt cancels the task that runs, a second one ends.
 */
export async function tryCommand(args: TryArguments, context: CommandContext): Promise<ExitCode> {
  const { output, disk } = context;
  const wrong = problemOf(args);
  if (wrong !== undefined) {
    output.error(wrong);
    return exitCodes.wrongUsage;
  }
  await disk.makeFolder(args.workspace);
  const printer = new EventPrinter(output);
  const host = await openHost({
    ...context,
    workspace: await disk.realPath(args.workspace),
    engine: createFauxEngine(context),
    counters: new Counters(),
    outbound: configuredOutbound(context.config, context),
    pid: Deno.pid,
    observe: (_, event) => printer.observe(event),
  });
  if (host.kind === "refused") {
    output.error(host.message);
    return exitCodes.wrongUsage;
  }
  await using _host = host;
  return await new Trial(args, context, { host, printer }).run();
}

/** One conversation through a host. */
class Trial {
  readonly #args: TryArguments;
  readonly #context: CommandContext;
  readonly #host: Host;
  readonly #printer: EventPrinter;
  #contextId: string | undefined;
  #taskId: string | undefined;

  constructor(args: TryArguments, context: CommandContext, { host, printer }: { host: Host; printer: EventPrinter }) {
    this.#args = args;
    this.#context = context;
    this.#host = host;
    this.#printer = printer;
    this.#contextId = args.contextId;
    this.#taskId = args.taskId;
  }

  async run(): Promise<ExitCode> {
    const { words, files } = this.#args;
    const isGiven = words.length > 0 || files.length > 0;
    const messages = isGiven ? [words.join(" ")] : inputMessages("> ");
    let exitCode: ExitCode = exitCodes.done;
    for await (const text of messages) exitCode = await this.#say(text, isGiven ? files : []);
    return exitCode;
  }

  async #say(text: string, files: readonly string[]): Promise<ExitCode> {
    const { output } = this.#context;
    const parts = [...(text === "" ? [] : [{ text }])];
    const attached: PartJson[] = [];
    for (const path of files) {
      const part = await this.#filePart(path);
      if (part === undefined) return exitCodes.wrongUsage;
      attached.push(part);
    }
    const caller = parseCallerName(this.#args.caller);
    const message = this.#message([...parts, ...attached]);
    const accepted = await this.#host.runs.submit({ caller, hops: 0, message });
    if (accepted.kind === "refused") {
      output.error(`Refused: ${accepted.text}`);
      return exitCodes.failed;
    }
    using _interrupt = onInterrupt(() => void this.#host.runs.cancel(accepted.task.id, caller));
    for await (const event of accepted.events) this.#printer.print(event);
    return this.#ended(await accepted.settled());
  }

  #message(parts: readonly PartJson[]): MessageJson {
    return {
      messageId: this.#context.random.uuid(),
      role: "ROLE_USER",
      parts,
      ...(this.#taskId === undefined ? { contextId: this.#contextId } : { taskId: this.#taskId }),
    } as MessageJson;
  }

  #ended({ id, contextId, status }: TaskJson): ExitCode {
    this.#contextId = contextId;
    const isAsked = status.state === "TASK_STATE_INPUT_REQUIRED";
    this.#taskId = isAsked ? id : undefined;
    if (isAsked) return exitCodes.inputRequired;
    return status.state === "TASK_STATE_COMPLETED" ? exitCodes.done : exitCodes.failed;
  }

  async #filePart(path: string): Promise<PartJson | undefined> {
    const { disk, output } = this.#context;
    const stamp = disk.stampSync(path);
    if (stamp?.kind !== "file" || stamp.bytes > attachedBytesMax) {
      const why = stamp?.kind === "file" ? `it is over ${attachedBytesMax} bytes` : "it is not a file";
      output.error(`Cannot send ${path}: ${why}`);
      return undefined;
    }
    using file = await disk.openRead(path);
    const filename = basename(path);
    return { raw: (await file.read()).toBase64(), filename, mediaType: mediaTypeOf(filename) };
  }
}

/** A body on the wire has this limit too (product.md §5.6). */
const attachedBytesMax = 32 * 1024 * 1024;

function problemOf({ caller, contextId, taskId }: TryArguments): string | undefined {
  if (!/^[a-z0-9-]{1,40}$/.test(caller)) {
    return `Cannot use ${caller} as --caller: expected 1 to 40 of a-z, 0-9 and "-"`;
  }
  if (contextId !== undefined && !isContextId(contextId)) {
    return `Cannot use ${contextId} as --context: expected 1 to 100 of A-Z, a-z, 0-9, "_" and "-"`;
  }
  if (taskId !== undefined && !isTaskId(taskId)) return `Cannot use ${taskId} as --task: expected the id of a task`;
  return undefined;
}
