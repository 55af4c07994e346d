/** What the kit wants to see happen to a message. */
export type KitAnswer =
  /** Comes in these pieces, after `waitMs`. */
  | { readonly kind: "text"; readonly pieces: readonly string[]; readonly waitMs?: number }
  | { readonly kind: "file"; readonly name: string; readonly content: string }
  | { readonly kind: "question"; readonly text: string }
  | { readonly kind: "failure"; readonly text: string };

/**
 * Gives what the kit wants of a message, by the beginning of its id (the kit's `scenarios/*.feature`). The longest beginning
 * that fits counts, for `tck-artifact-file-url` begins like another; what the kit has no wish for is answered like a
 * completed task.
 */
export function kitAnswer(messageId: string): KitAnswer {
  const fitting = Object.keys(answers).filter((prefix) => messageId.startsWith(prefix));
  const longest = fitting.sort((a, b) => b.length - a.length)[0] ?? "tck-complete-task";
  return answers[longest]!;
}

const file: KitAnswer = { kind: "file", name: "output.txt", content: "Generated file content" };

const answers: Readonly<Record<string, KitAnswer>> = {
  "tck-complete-task": text("Hello from TCK"),
  "tck-artifact-text": text("Generated text content"),
  "tck-artifact-file": file,
  // What stands in these two is replaced where the task is served: see kit_operations.ts.
  "tck-artifact-file-url": text("https://example.com/output.txt"),
  "tck-artifact-data": text('{"key":"value","count":42}'),
  "tck-input-required": { kind: "question", text: "What else?" },
  "tck-reject-task": { kind: "failure", text: "rejected" },
  "tck-stream-001": text("Stream hello from TCK"),
  "tck-stream-003": text("Stream task lifecycle"),
  "tck-stream-ordering-001": text("Ordered output"),
  "tck-stream-artifact-text": text("Streamed text content"),
  "tck-stream-artifact-file": file,
  "tck-stream-artifact-chunked": text("chunk-1 ", "chunk-2"),
  // Twice the kit's timeout for streams.
  "test-resubscribe-message-id": { ...text("Hello from TCK"), waitMs: 4_000 },
};

function text(...pieces: readonly string[]): KitAnswer & { readonly kind: "text" } {
  return { kind: "text", pieces };
}
