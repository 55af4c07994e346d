/** What a scripted model says in one answer. */
export interface ModelReply {
  readonly reasoning?: string;
  /** Pieces of text, each a chunk. */
  readonly text?: readonly string[];
  readonly calls?: readonly ScriptedCall[];
  readonly finish?: "stop" | "length" | "filter";
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
}

/** A tool call of a scripted model. */
export interface ScriptedCall {
  readonly name: string;
  /** An object, or the text of an input that is no JSON. */
  readonly input: unknown;
  readonly id?: string;
}

/** Whose way to stream an answer. */
export type Dialect = "chat" | "anthropic" | "gemini" | "responses";

/** Returns the server-sent events of an answer, one text each, as the API of a dialect streams them. */
export function streamFrames(dialect: Dialect, reply: ModelReply): readonly string[] {
  return [...frames[dialect](reply)];
}

const frames: Readonly<Record<Dialect, (reply: ModelReply) => Generator<string>>> = {
  chat: chatFrames,
  anthropic: anthropicFrames,
  gemini: geminiFrames,
  responses: responsesFrames,
};

const usageDefault = { inputTokens: 100, outputTokens: 20 };

function argumentsOf({ input }: ScriptedCall): string {
  return typeof input === "string" ? input : JSON.stringify(input);
}

function data(value: unknown, event?: string): string {
  const named = event === undefined ? "" : `event: ${event}\n`;
  return `${named}data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
}

function* chatFrames({ reasoning, text = [], calls = [], finish = "stop", usage = usageDefault }: ModelReply) {
  const chunk = (delta: unknown, finish_reason: string | null = null) =>
    data({ id: "c1", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta, finish_reason }] });
  yield chunk({ role: "assistant", content: "" });
  if (reasoning !== undefined) yield chunk({ reasoning_content: reasoning });
  for (const content of text) yield chunk({ content });
  for (const [index, call] of calls.entries()) {
    const all = argumentsOf(call);
    const half = all.length >> 1;
    const id = call.id ?? `call_${index + 1}_${call.name}`;
    const named = { name: call.name, arguments: all.slice(0, half) };
    yield chunk({ tool_calls: [{ index, id, type: "function", function: named }] });
    yield chunk({ tool_calls: [{ index, function: { arguments: all.slice(half) } }] });
  }
  const reason = finish === "length" ? "length" : finish === "filter" ? "content_filter" : undefined;
  yield chunk({}, reason ?? (calls.length > 0 ? "tool_calls" : "stop"));
  const { inputTokens: prompt_tokens, outputTokens: completion_tokens } = usage;
  const total_tokens = prompt_tokens + completion_tokens;
  yield data({ id: "c1", choices: [], usage: { prompt_tokens, completion_tokens, total_tokens } });
  yield data("[DONE]");
}

function* anthropicFrames({ reasoning, text = [], calls = [], finish = "stop", usage = usageDefault }: ModelReply) {
  const event = (type: string, more: object) => data({ type, ...more }, type);
  const { inputTokens: input_tokens, outputTokens: output_tokens } = usage;
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null };
  yield event("message_start", { message: { ...message, usage: { input_tokens, output_tokens: 1 } } });
  let index = 0;
  function* block(content_block: object, deltas: readonly object[]) {
    yield event("content_block_start", { index, content_block });
    for (const delta of deltas) yield event("content_block_delta", { index, delta });
    yield event("content_block_stop", { index: index++ });
  }
  if (reasoning !== undefined) {
    const signature = { type: "signature_delta", signature: "c2lnbmVk" };
    yield* block({ type: "thinking", thinking: "" }, [{ type: "thinking_delta", thinking: reasoning }, signature]);
  }
  if (text.length > 0) {
    yield* block({ type: "text", text: "" }, text.map((text) => ({ type: "text_delta", text })));
  }
  for (const [at, call] of calls.entries()) {
    const id = call.id ?? `toolu_${at + 1}_${call.name}`;
    const partial_json = argumentsOf(call);
    yield* block({ type: "tool_use", id, name: call.name, input: {} }, [{ type: "input_json_delta", partial_json }]);
  }
  const reason = finish === "length" ? "max_tokens" : finish === "filter" ? "refusal" : undefined;
  const stop_reason = reason ?? (calls.length > 0 ? "tool_use" : "end_turn");
  yield event("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens } });
  yield event("message_stop", {});
}

function* geminiFrames({ reasoning, text = [], calls = [], finish = "stop", usage = usageDefault }: ModelReply) {
  const { inputTokens: promptTokenCount, outputTokens: candidatesTokenCount } = usage;
  const usageMetadata = {
    ...{ promptTokenCount, candidatesTokenCount },
    totalTokenCount: promptTokenCount + candidatesTokenCount,
  };
  const chunk = (parts: readonly object[], finishReason?: string) =>
    data({ candidates: [{ content: { role: "model", parts }, index: 0, finishReason }], usageMetadata });
  if (reasoning !== undefined) yield chunk([{ text: reasoning, thought: true }]);
  for (const piece of text) yield chunk([{ text: piece }]);
  for (const { name, input } of calls) yield chunk([{ functionCall: { name, args: input } }]);
  yield chunk([{ text: "" }], finish === "length" ? "MAX_TOKENS" : finish === "filter" ? "SAFETY" : "STOP");
}

function* responsesFrames({ reasoning, text = [], calls = [], finish = "stop", usage = usageDefault }: ModelReply) {
  const event = (type: string, more: object) => data({ type, ...more }, type);
  yield event("response.created", { response: { id: "resp_1", created_at: 1, model: "m" } });
  let output_index = 0;
  if (reasoning !== undefined) {
    const item = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: null };
    yield event("response.output_item.added", { output_index, item });
    yield event("response.reasoning_summary_part.added", { item_id: "rs_1", output_index, summary_index: 0 });
    const delta = { item_id: "rs_1", output_index, summary_index: 0, delta: reasoning };
    yield event("response.reasoning_summary_text.delta", delta);
    const done = { ...item, encrypted_content: "b3BhcXVl", summary: [{ type: "summary_text", text: reasoning }] };
    yield event("response.output_item.done", { output_index: output_index++, item: done });
  }
  if (text.length > 0) {
    const item = { type: "message", id: "msg_1", role: "assistant", status: "in_progress", content: [] };
    yield event("response.output_item.added", { output_index, item });
    for (const delta of text) {
      yield event("response.output_text.delta", { item_id: "msg_1", output_index, content_index: 0, delta });
    }
    const content = [{ type: "output_text", text: text.join(""), annotations: [] }];
    const done = { ...item, status: "completed", content };
    yield event("response.output_item.done", { output_index: output_index++, item: done });
  }
  for (const [at, call] of calls.entries()) {
    const ids = { id: `fc_${at + 1}`, call_id: call.id ?? `call_${at + 1}_${call.name}` };
    const item = { type: "function_call", ...ids, name: call.name, arguments: "", status: "in_progress" };
    yield event("response.output_item.added", { output_index, item });
    const all = argumentsOf(call);
    yield event("response.function_call_arguments.delta", { item_id: ids.id, output_index, delta: all });
    const done = { ...item, arguments: all, status: "completed" };
    yield event("response.output_item.done", { output_index: output_index++, item: done });
  }
  const { inputTokens: input_tokens, outputTokens: output_tokens } = usage;
  const counted = { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
  const response = { id: "resp_1", created_at: 1, model: "m", usage: counted };
  if (finish === "stop") yield event("response.completed", { response });
  else {
    const reason = finish === "length" ? "max_output_tokens" : "content_filter";
    yield event("response.incomplete", { response: { ...response, incomplete_details: { reason } } });
  }
}
