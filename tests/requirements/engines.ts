import type { Promised } from "./promised.ts";

/** The engines that think with a model. */
export const engineRequirements: readonly Promised[] = [
  ["§8 llm-model", "A model is named as provider:model; one of a server of one's own needs its address"],
  [
    "§8 llm-providers",
    "The engine llm streams text, reasoning and tool calls from Anthropic, OpenAI, Google and OpenAI-compatible servers",
  ],
  [
    "§8 llm-tools",
    "It has the tools read, write, edit, list, search, bash, send, notify_owner and request_input as they are lent",
  ],
  ["§8 llm-parallel", "The calls of one message are made at once, those that change something one after another"],
  ["§8 llm-output-cut", "A tool's output over 64 KiB is cut and marked, a command's in its middle"],
  ["§8 llm-bash", "A command's output, standard error included, and how it ended are told; a cancel kills it"],
  ["§8 llm-ask", "A question ends the turn, and its answer is the result of the call that asked"],
  ["§8 llm-resume", "A conversation goes on after a restart at any moment, in the middle of a tool call too"],
  ["§8 llm-transcript", "A message of any length is noted in lines of a transcript and found again"],
  ["§8 llm-retries", "A call that failed is made again, after the time that the server asks for"],
  ["§8 llm-failures", "What a model or its server does wrong fails the turn with a sentence of its own"],
  ["§8 llm-time-out", "A model that says nothing for too long fails the turn, which is no cancel"],
  ["§8 llm-abort", "A cancel ends the turn at once, whatever it waits for, and the server is left"],
  ["§8 llm-length", "An answer that the length limit cut says so, and a call that it cut is not made"],
  ["§8 llm-steps", "A turn has a maximum of steps, ends with what there is and says so"],
  ["§8 llm-usage", "The tokens of each call are counted, in the transcript and in the task"],
  ["§8 llm-compaction", "Before the context is full older turns are summarised, else what is old and long is left out"],
  ["§8 llm-files", "Images and PDF are shown to models that take them, and noted by their paths only"],
  ["§8 llm-key", "The model's key is asked for by name when it is needed, sent in a header, and seen nowhere else"],
  ["§8 llm-peer", "A peer on a model asks, answers, sends files and is cancelled over its endpoints"],
  ["§8 llm-start", "A start does not load the SDK"],
];
