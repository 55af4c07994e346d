import { z } from "zod";
import type { ChangeResult, SessionFiles } from "@/engine/session_files.ts";
import { isShown, type ModelFiles, type ModelTool, refusedOutcome, type ToolOutcome } from "./model_tool.ts";

const path = z.string().describe("Path from the workspace's root, with slashes");

/** A file over this is named to the model, not shown. */
const shownBytesMax = 5 * 1024 * 1024;

const readInput = z.object({
  path,
  from: z.number().int().min(1).optional().describe("The first line that is read, counted from 1"),
  count: z.number().int().min(1).optional().describe("How many lines are read"),
});
const writeInput = z.object({ path, content: z.string().describe("The whole new text of the file") });
const editInput = z.object({
  path,
  old: z.string().min(1).describe(
    "The exact text that is replaced; it must stand in the file once, unless all is true",
  ),
  new: z.string().describe("What is put in its place"),
  all: z.boolean().optional().describe("Replaces it everywhere"),
});
const listInput = z.object({ path: path.optional().describe("The folder; the workspace's root when absent") });
const searchInput = z.object({
  pattern: z.string().min(1).describe("A regular expression of JavaScript, without flags"),
  path: path.optional().describe("The folder below which is searched; the workspace's root when absent"),
});

/** The tools for the workspace's files (product.md §8). What they may touch is settled by who lends `files`. */
export function fileTools(files: SessionFiles, shown: ModelFiles): readonly ModelTool[] {
  const tools = [
    {
      name: "read",
      description: "Reads a file of the workspace: text with the number of its first line, or an image or PDF",
      input: readInput,
      changes: false,
      summary: ({ path, from }) => from === undefined ? path : `${path} from line ${from}`,
      run: (input) => readFile(files, input, shown),
    } satisfies ModelTool<z.infer<typeof readInput>>,
    {
      name: "write",
      description: "Writes a text file, whole; makes it and the folders above it when missing",
      input: writeInput,
      changes: true,
      summary: ({ path, content }) => `${path}, ${content.length} characters`,
      run: async ({ path, content }) => changeText(await files.write(path, content), `Wrote ${path}`),
    } satisfies ModelTool<z.infer<typeof writeInput>>,
    {
      name: "edit",
      description: "Replaces a text in a file",
      input: editInput,
      changes: true,
      summary: ({ path }) => path,
      run: async ({ path, ...change }) => changeText(await files.edit(path, change), `Changed ${path}`),
    } satisfies ModelTool<z.infer<typeof editInput>>,
    {
      name: "list",
      description: "Lists a folder of the workspace; folders end in a slash",
      input: listInput,
      changes: false,
      summary: ({ path = "" }) => path || "/",
      run: ({ path = "" }) => listFolder(files, path),
    } satisfies ModelTool<z.infer<typeof listInput>>,
    {
      name: "search",
      description: "Finds the lines of the workspace's text files that match a regular expression",
      input: searchInput,
      changes: false,
      summary: ({ pattern, path = "" }) => path === "" ? pattern : `${pattern} in ${path}`,
      run: ({ pattern, path = "" }, signal) => searchFiles(files, { pattern, path }, signal),
    } satisfies ModelTool<z.infer<typeof searchInput>>,
  ];
  return tools as readonly ModelTool[];
}

async function readFile(
  files: SessionFiles,
  { path, from, count }: z.infer<typeof readInput>,
  shown: ModelFiles,
): Promise<ToolOutcome> {
  const range = from === undefined && count === undefined
    ? undefined
    : { from: from ?? 1, count: count ?? Number.MAX_SAFE_INTEGER };
  const read = await files.read(path, range);
  if (read.kind === "refused") return refusedOutcome(read.why);
  if (read.kind === "bytes") {
    const { bytes, mediaType } = read;
    const what = `${path} is ${mediaType}, ${bytes.length} bytes`;
    if (!isShown(shown, mediaType)) return refusedOutcome(`${what}: it cannot be shown to you`);
    if (bytes.length > shownBytesMax) return refusedOutcome(`${what}: too large to be shown to you`);
    return { text: `${what}; it is shown behind the results`, shows: { path, mediaType, bytes } };
  }
  const { text, lines, isCut } = read;
  const last = text === "" ? read.from - 1 : read.from + text.replace(/\n$/, "").split("\n").length - 1;
  const more = isCut ? `; there is more, read on from line ${last + 1}` : "";
  return { text: `${path}, lines ${read.from} to ${last} of ${lines}${more}\n${text}` };
}

async function listFolder(files: SessionFiles, path: string): Promise<ToolOutcome> {
  const listed = await files.list(path);
  if (listed.kind === "refused") return refusedOutcome(listed.why);
  const { names, isCut } = listed;
  if (names.length === 0) return { text: "The folder is empty" };
  return { text: names.join("\n") + (isCut ? "\n[cut: there are more]" : "") };
}

async function searchFiles(
  files: SessionFiles,
  query: { readonly pattern: string; readonly path: string },
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const found = await files.search(query, signal);
  if (found.kind === "refused") return refusedOutcome(found.why);
  const { matches, isCut } = found;
  if (matches.length === 0) return { text: `Nothing matches${isCut ? " so far: the search was cut" : ""}` };
  const lines = matches.map(({ path, line, text }) => `${path}:${line}: ${text}`);
  return { text: lines.join("\n") + (isCut ? "\n[cut: there are more]" : "") };
}

function changeText(result: ChangeResult, done: string): ToolOutcome {
  return result.kind === "done" ? { text: done } : refusedOutcome(result.why);
}
