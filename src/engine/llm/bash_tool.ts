import { z } from "zod";
import type { Program, ProgramEnd, SessionPrograms } from "@/engine/programs.ts";
import { unlessAborted } from "@/time/unless_aborted.ts";
import { type ModelTool, refusedOutcome, type ToolOutcome } from "./model_tool.ts";
import { outputBytesMax, ProgramOutput } from "./output_text.ts";

const defaultSeconds = 120;
const secondsMax = 3600;
/** Room for what is said of the output: it must not be what is cut. */
const marksBytes = 256;

const bashInput = z.object({
  command: z.string().min(1).describe("What bash runs"),
  timeoutSeconds: z.number().positive().max(secondsMax).optional()
    .describe(`It is killed after so long; ${defaultSeconds} when absent`),
});

/** The tool that runs a command in the session's box (product.md §8). */
export function bashTool(programs: SessionPrograms): ModelTool {
  const tool: ModelTool<z.infer<typeof bashInput>> = {
    name: "bash",
    description:
      "Runs a bash command in the workspace and gives its output, standard error included, and its exit code",
    input: bashInput,
    changes: true,
    summary: ({ command }) => command,
    run: (input, signal) => runBash(programs, input, signal),
  };
  return tool as ModelTool;
}

async function runBash(
  programs: SessionPrograms,
  { command, timeoutSeconds = defaultSeconds }: z.infer<typeof bashInput>,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const started = await programs.start({
    kind: "bash",
    command: ["bash", "-c", command],
    timeoutMs: timeoutSeconds * 1000,
  }, signal);
  if (started.kind === "refused") return refusedOutcome(started.why);
  await using program = started;
  const output = new ProgramOutput(outputBytesMax - marksBytes);
  const reading = Promise.all([
    gather(program.stdout, output),
    gather(program.stderr, output),
    closeInput(program),
  ]);
  const end = await unlessAborted(Promise.all([program.ended, reading]).then(([end]) => end), signal);
  if (end === undefined) program.kill();
  return { text: `${output.text}${endLine(end, timeoutSeconds)}`, isError: end?.code !== 0 };
}

/** In the order of arrival: both streams are read at once, chunk by chunk. */
async function gather(stream: ReadableStream<Uint8Array>, output: ProgramOutput): Promise<void> {
  try {
    for await (const chunk of stream) output.add(chunk);
  } catch {
    // A stream that breaks is as one that ends: how the program ended says the rest.
  }
}

async function closeInput({ stdin }: Program): Promise<void> {
  try {
    await stdin.close();
  } catch {
    // The program was faster and is gone.
  }
}

function endLine(end: ProgramEnd | undefined, timeoutSeconds: number): string {
  if (end === undefined) return "\n[stopped]";
  switch (end.because) {
    case undefined:
      return `\n[exit code ${end.code}]`;
    case "time":
      return `\n[killed: it ran over ${timeoutSeconds} seconds]`;
    case "memory":
      return "\n[killed: it used too much memory]";
    case "disk":
      return "\n[killed: the disk room of this caller is used up; remove files of it first]";
    case "output":
      return "\n[killed: it put out too much]";
    case "killed":
      return "\n[killed]";
    case "host ends":
      return "\n[killed: the host ends]";
    default:
      return end.because satisfies never;
  }
}
