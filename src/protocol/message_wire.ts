import { normalizeBase64 } from "./base64.ts";
import { decodeDataUrl, isDataUrl } from "./data_url.ts";
import { type FieldReader, isJsonObject, type JsonObject, type TextRule } from "./field_reader.ts";
import { isContextId } from "./ids.ts";
import { requestJsonLimits } from "./json_limits.ts";

/**
 * A caller's message as it was parsed: a `MessageJson` but for `taskId`, which may be any text. What is no id of ours is kept,
 * so that the operation answers `TASK_NOT_FOUND` as for any unknown task (case 39).
 */
export interface IncomingMessage {
  readonly messageId: string;
  readonly role: "ROLE_USER";
  readonly parts: readonly IncomingPart[];
  readonly contextId?: string;
  readonly taskId?: string;
  readonly referenceTaskIds?: readonly string[];
  readonly extensions?: readonly string[];
  readonly metadata?: JsonObject;
}

/** Exactly one of `text`, `raw`, `url`, `data`. `raw` is standard padded base64; `url` is never a `data:` URL. */
export interface IncomingPart {
  readonly text?: string;
  readonly raw?: string;
  readonly url?: string;
  readonly data?: unknown;
  readonly filename?: string;
  readonly mediaType?: string;
  readonly metadata?: JsonObject;
}

/** Bounds of one message (data-model.md 5); sizes of JSON are in characters. */
export const messageLimits = {
  parts: requestJsonLimits.partsMax,
  textBytes: 1024 * 1024,
  dataChars: 1024 * 1024,
  metadataChars: 64 * 1024,
  urlChars: 8192,
  idChars: 256,
  listItems: 64,
} as const;

/** Reads the message of a send (A2A 1.0 §4.1.4, product.md §5.6). Members of the result are those that were set. */
export function readMessage(fields: FieldReader): IncomingMessage {
  const messageId = fields.requiredText("messageId", id);
  const role = fields.value("role");
  const isUnset = role === undefined || role === 0 || role === roles[0];
  if (isUnset) fields.refuse("role", "is required");
  else fields.enumName("role", roles);
  const contextId = fields.text("contextId", {
    charsMax: 100,
    mayBeBlank: true,
    fits: isContextId,
    expects: "1 to 100 of A-Z, a-z, 0-9, _ and -",
  });
  const taskId = fields.text("taskId", id);
  const parts = readParts(fields);
  const referenceTaskIds = fields.texts("referenceTaskIds", { ...id, itemsMax: messageLimits.listItems });
  const extensions = fields.texts("extensions", { ...uri, itemsMax: messageLimits.listItems });
  const metadata = fields.struct("metadata", messageLimits.metadataChars);
  return {
    messageId,
    role: "ROLE_USER",
    parts,
    ...(contextId !== undefined && { contextId }),
    ...(taskId !== undefined && { taskId }),
    ...(referenceTaskIds !== undefined && { referenceTaskIds }),
    ...(extensions !== undefined && { extensions }),
    ...(metadata !== undefined && { metadata }),
  };
}

const id: TextRule = { charsMax: messageLimits.idChars };
const uri: TextRule = { charsMax: 2048 };
const roles = ["ROLE_UNSPECIFIED", "ROLE_USER"] as const;
const label: TextRule = {
  charsMax: 1024,
  mayBeBlank: true,
  fits: (text) => !/[\0-\x1f\x7f]/.test(text),
  expects: "without control characters",
};

function readParts(fields: FieldReader): readonly IncomingPart[] {
  const given = fields.value("parts");
  if (given === undefined) fields.refuse("parts", "is required");
  if (Array.isArray(given) && given.length === 0) fields.refuse("parts", "must have at least one part");
  const items = fields.nestedItems("parts", messageLimits.parts);
  return items?.map(readPart) ?? [];
}

function readPart(fields: FieldReader): IncomingPart {
  const content = readContent(fields);
  const filename = fields.text("filename", label);
  const mediaType = fields.text("mediaType", label);
  const metadata = fields.struct("metadata", messageLimits.metadataChars);
  return {
    ...content,
    ...(filename && { filename }),
    ...(mediaType && { mediaType }),
    ...(metadata !== undefined && { metadata }),
  };
}

function readContent(fields: FieldReader): IncomingPart {
  const set = ["text", "raw", "url", "data"].filter((name) => fields.value(name) !== undefined);
  if (set.length === 0 && fields.raw("data") === null) return { data: null }; // a JSON null is a value there, as in protobuf
  if (set.length !== 1) {
    const found = set.length === 0 ? "has none" : `has ${set.join(" and ")}`;
    fields.refuse("", `must have exactly one of text, raw, url, data, and ${found}`);
    return {};
  }
  if (set[0] === "text") {
    const { textBytes: bytesMax } = messageLimits;
    return { text: fields.text("text", { charsMax: Infinity, bytesMax, mayBeBlank: true }) };
  }
  if (set[0] === "raw") return { raw: readRaw(fields) };
  return set[0] === "url" ? readUrl(fields) : { data: readData(fields) };
}

function readRaw(fields: FieldReader): string | undefined {
  const text = fields.text("raw", { charsMax: Infinity, mayBeBlank: true });
  const raw = text === undefined ? undefined : normalizeBase64(text);
  if (text !== undefined && raw === undefined) fields.refuse("raw", "must be base64, standard or URL-safe");
  return raw;
}

function readUrl(fields: FieldReader): IncomingPart {
  const given = fields.text("url", { charsMax: Infinity });
  if (given === undefined) return {};
  if (isDataUrl(given)) {
    const content = decodeDataUrl(given);
    if (content !== undefined) return { raw: content.base64, mediaType: content.mediaType };
    fields.refuse("url", "must be a data: URL that can be decoded");
    return {};
  }
  const { urlChars } = messageLimits;
  return {
    url: fields.text("url", { charsMax: urlChars, fits: (text) => URL.canParse(text), expects: "an absolute URL" }),
  };
}

/**
 * The name under which the server keeps a received file in a part's `data` (data-model.md 5). A caller that could send it
 * would pass any path off as a file of its own.
 */
const reservedName = "volcanic.file";

function readData(fields: FieldReader): unknown {
  const data = fields.value("data");
  if (isJsonObject(data) && Object.hasOwn(data, reservedName)) {
    fields.refuse("data", `must not have a member "${reservedName}": the name is the server's own`);
  }
  const { dataChars } = messageLimits;
  if (JSON.stringify(data).length > dataChars) fields.refuse("data", `must be at most ${dataChars} characters of JSON`);
  return data;
}
