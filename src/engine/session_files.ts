/**
 * The files of the workspace as one session may see and change them, by path from the workspace's root (product.md §6). Who may
 * what is settled by who lends this; a special file, a hidden path, a link that leads to one or out, and a write through any link
 * are refused, whoever swaps them meanwhile.
 */
export interface SessionFiles {
  /** Reads text, as lines with their numbers are asked for, or an image or document as bytes. */
  read(path: string, range?: LineRange): Promise<ReadResult>;
  /** Writes a whole file, making it and the folders above it. */
  write(path: string, text: string): Promise<ChangeResult>;
  /** Replaces the one place where `old` stands; refused when it stands nowhere, or more than once without `all`. */
  edit(path: string, change: TextChange): Promise<ChangeResult>;
  /** The entries of a folder, by name, folders with a slash at their end; "" is the root. */
  list(path: string): Promise<ListResult>;
  /** Lines that match a regular expression, below a folder. Ends with `signal`. */
  search(query: SearchQuery, signal: AbortSignal): Promise<SearchResult>;
}

/** Lines of a file, counted from 1. */
export interface LineRange {
  readonly from: number;
  readonly count: number;
}

/** What is put in the place of what. */
export interface TextChange {
  readonly old: string;
  readonly new: string;
  /** Everywhere it stands. */
  readonly all?: boolean;
}

/** Why a file is not given; for the model to read. */
export interface FilesRefused {
  readonly kind: "refused";
  readonly why: string;
}

/** What came of a change. */
export type ChangeResult = { readonly kind: "done" } | FilesRefused;

/** What is in a file. */
export type ReadResult =
  | {
    readonly kind: "text";
    readonly text: string;
    /** The number of the first line that is here. */
    readonly from: number;
    /** Lines of the whole file. */
    readonly lines: number;
    /** There is more than is here. */
    readonly isCut: boolean;
  }
  /** An image or a document that some models read. */
  | { readonly kind: "bytes"; readonly bytes: Uint8Array<ArrayBuffer>; readonly mediaType: string }
  | FilesRefused;

/** What is in a folder. */
export type ListResult =
  | { readonly kind: "entries"; readonly names: readonly string[]; readonly isCut: boolean }
  | FilesRefused;

/** What is looked for. */
export interface SearchQuery {
  /** A regular expression of JavaScript, without flags. */
  readonly pattern: string;
  /** The folder below which it is looked for; "" is the root. */
  readonly path: string;
}

/** What was found, in the order of paths. */
export type SearchResult =
  | { readonly kind: "found"; readonly matches: readonly SearchMatch[]; readonly isCut: boolean }
  | FilesRefused;

/** One line that matches. */
export interface SearchMatch {
  readonly path: string;
  readonly line: number;
  /** Cut when it is long. */
  readonly text: string;
}
