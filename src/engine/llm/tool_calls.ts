import { tool as sdkTool, type ToolSet } from "ai";
import type { EngineEvent } from "@/engine/engine.ts";
import { unlessAborted } from "@/time/unless_aborted.ts";
import type { ModelCall } from "./model_step.ts";
import type { ModelTool, ToolOutcome } from "./model_tool.ts";
import { cutOutput } from "./output_text.ts";

/** A call with what came of it. */
export interface CallResult extends ToolOutcome {
  readonly call: ModelCall;
}

/** The tools as the SDK takes them: none executes by itself, so that a call is in the transcript before it is made. */
export function toolSet(tools: readonly ModelTool[]): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, input }) => [name, sdkTool({ description, inputSchema: input })]),
  );
}

/**
 * Makes the calls of one message and yields a `tool` event at the start and the end of each; the results come in the order
 * of the calls.
 *
 * Calls run at once, but those that change something one after another, in their order. What a tool throws is its result,
 * and so is an abort of `signal`, which is not waited for.
 */
export async function* makeCalls(
  calls: readonly ModelCall[],
  tools: readonly ModelTool[],
  signal: AbortSignal,
): AsyncGenerator<EngineEvent, readonly CallResult[], void> {
  const events: EngineEvent[] = [];
  let wake = () => {};
  let isOver = false;
  const tell = (event: EngineEvent) => {
    events.push(event);
    wake();
  };
  let changing: Promise<unknown> = Promise.resolve();
  const results = calls.map((call) => {
    const tool = tools.find(({ name }) => name === call.name);
    const make = () => makeCall(call, tool, { signal, tell });
    if (tool?.changes !== true) return make();
    const result = changing.then(make);
    changing = result;
    return result;
  });
  const all = Promise.all(results).finally(() => {
    isOver = true;
    wake();
  });
  all.catch(() => {}); // seen below
  while (true) {
    yield* events.splice(0);
    if (events.length > 0) continue;
    if (isOver) return await all;
    await new Promise<void>((resolve) => wake = resolve);
  }
}

async function makeCall(
  call: ModelCall,
  tool: ModelTool | undefined,
  { signal, tell }: { readonly signal: AbortSignal; readonly tell: (event: EngineEvent) => void },
): Promise<CallResult> {
  const { name, input } = call;
  const summary = toolLine(
    tool === undefined || call.problem !== undefined ? "cannot be called so" : tool.summary(input),
  );
  tell({ kind: "tool", name: toolLine(name), phase: "start", summary });
  const outcome = await outcomeOf(call, tool, signal);
  tell({
    kind: "tool",
    name: toolLine(name),
    phase: "end",
    summary: outcome.isError ? toolLine(outcome.text) : summary,
  });
  return { ...outcome, call, text: cutOutput(outcome.text) };
}

async function outcomeOf(call: ModelCall, tool: ModelTool | undefined, signal: AbortSignal): Promise<ToolOutcome> {
  if (call.problem !== undefined) return { text: call.problem, isError: true };
  if (tool?.run === undefined) return { text: `There is no tool ${call.name}`, isError: true };
  if (signal.aborted) return stopped;
  try {
    return await unlessAborted(tool.run(call.input, signal), signal) ?? stopped;
  } catch (error) {
    if (signal.aborted) return stopped;
    // What broke is for the log of whoever lent the tool; a model needs to know only that it did.
    return { text: `The tool broke: ${error instanceof Error ? error.name : "unknown"}`, isError: true };
  }
}

const stopped: ToolOutcome = { text: "Stopped: the run was ended before this came to an end", isError: true };

const lineCharsMax = 200;

/** A text as one short line. */
export function toolLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  return line.length > lineCharsMax ? `${line.slice(0, lineCharsMax)}…` : line;
}
