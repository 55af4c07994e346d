/** A message, or what is around it, that must be refused. */
export interface BadMessage {
  readonly name: string;
  /** Params of SendMessage. */
  readonly params: unknown;
  /** Where the first violation is; undefined when the whole body is over a limit. */
  readonly field?: string;
}

const part = { text: "hi" };
const message = { messageId: "m", role: "ROLE_USER", parts: [part] };

function withMessage(changes: Readonly<Record<string, unknown>>) {
  return { message: { ...message, ...changes } };
}

function withPart(...parts: readonly unknown[]) {
  return withMessage({ parts });
}

function rowsOf(
  values: readonly unknown[],
  row: (value: unknown) => Omit<BadMessage, "name">,
  name: string,
): readonly BadMessage[] {
  return values.map((value) => ({ name: `${name} ${shown(value)}`, ...row(value) }));
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "absent";
  return text.length > 40 ? `${text.slice(0, 36)} of ${text.length} characters` : text;
}

/** What a wire value of the wrong type looks like. */
const noText = [1, true, [], {}];

const messages: readonly BadMessage[] = [
  ...rowsOf([undefined, null], (message) => ({ params: { message }, field: "message" }), "message"),
  ...rowsOf(["hi", [message], 1], (message) => ({ params: { message }, field: "message" }), "message"),
  ...rowsOf(
    [undefined, null, "", " ", "m".repeat(257), ...noText],
    (messageId) => ({ params: withMessage({ messageId }), field: "message.messageId" }),
    "messageId",
  ),
  ...rowsOf(
    [undefined, null, "ROLE_UNSPECIFIED", "ROLE_AGENT", "user", "role_user", "", 0, 2, -1, 1.5, true],
    (role) => ({ params: withMessage({ role }), field: "message.role" }),
    "role",
  ),
  ...rowsOf(
    ["a b", "../x", "a/b", "c".repeat(101), "\u00e9", ...noText],
    (contextId) => ({ params: withMessage({ contextId }), field: "message.contextId" }),
    "contextId",
  ),
  ...rowsOf(
    ["", " ", "t".repeat(257), ...noText],
    (taskId) => ({ params: withMessage({ taskId }), field: "message.taskId" }),
    "taskId",
  ),
  ...rowsOf(
    ["x", {}, 1],
    (referenceTaskIds) => ({ params: withMessage({ referenceTaskIds }), field: "message.referenceTaskIds" }),
    "referenceTaskIds",
  ),
  ...rowsOf(
    [[1], [""], [null]],
    (extensions) => ({ params: withMessage({ extensions }), field: "message.extensions[0]" }),
    "extensions",
  ),
  ...rowsOf(
    ["x", [], 1, { x: "x".repeat(70_000) }],
    (metadata) => ({ params: withMessage({ metadata }), field: "message.metadata" }),
    "metadata",
  ),
  {
    name: "messageId in both spellings",
    params: withMessage({ message_id: "m" }),
    field: "message.messageId",
  },
  {
    name: "contextId in both spellings",
    params: withMessage({ contextId: "c", context_id: "c" }),
    field: "message.contextId",
  },
];

const parts: readonly BadMessage[] = [
  ...rowsOf(
    [undefined, null, [], {}, "hi"],
    (parts) => ({ params: withMessage({ parts }), field: "message.parts" }),
    "parts",
  ),
  ...rowsOf(
    [null, "hi", [part], 1],
    (part) => ({ params: withPart(part), field: "message.parts[0]" }),
    "a part",
  ),
  ...rowsOf(
    [
      {},
      { text: null },
      { filename: "x" },
      { kind: "text" },
      { text: "a", raw: "aGk=" },
      { url: "https://x.example", data: {} },
      { text: "", data: "" },
      { text: "a", raw: "aGk=", url: "https://x.example", data: 1 },
    ],
    (part) => ({ params: withPart(part), field: "message.parts[0]" }),
    "a part",
  ),
  ...rowsOf(
    [...noText, "x".repeat(1024 * 1024 + 1), "\u20ac".repeat(400_000)],
    (text) => ({ params: withPart({ text }), field: "message.parts[0].text" }),
    "text",
  ),
  ...rowsOf(
    ["*", "A", "aGk==", "aGl=", "-/", "aG=k", "aGk\u0000", "\u00e9", ...noText],
    (raw) => ({ params: withPart({ raw }), field: "message.parts[0].raw" }),
    "raw",
  ),
  ...rowsOf(
    [
      "",
      "/x",
      "x.pdf",
      "//x.example",
      `https://x.example/${"x".repeat(9000)}`,
      "data:no comma",
      "data:;base64,*",
      "DATA:;base64,A",
      ...noText,
    ],
    (url) => ({ params: withPart({ url }), field: "message.parts[0].url" }),
    "url",
  ),
  ...rowsOf(
    [{ "volcanic.file": { bytes: 1, path: "inbox/bob/x" } }, { x: "x".repeat(1024 * 1024) }],
    (data) => ({ params: withPart({ data }), field: "message.parts[0].data" }),
    "data",
  ),
  ...["filename", "mediaType"].flatMap((name) =>
    rowsOf(
      ["a\nb", "\u0000", "x".repeat(1025), ...noText],
      (value) => ({ params: withPart({ ...part, [name]: value }), field: `message.parts[0].${name}` }),
      name,
    )
  ),
  { name: "a good part and a bad one", params: withPart(part, { raw: "*" }), field: "message.parts[1].raw" },
  { name: "257 parts", params: withPart(...Array(257).fill(part)) },
  { name: "100,001 values", params: withPart({ data: Array(100_001).fill(1) }) },
  { name: "65 levels", params: withPart({ data: JSON.parse("[".repeat(62) + "]".repeat(62)) }) },
];

const around: readonly BadMessage[] = [
  ...rowsOf(
    ["x", [], 1],
    (configuration) => ({ params: { message, configuration }, field: "configuration" }),
    "configuration",
  ),
  ...rowsOf(
    [-1, 1.5, "abc", "", 2 ** 31, true, {}],
    (historyLength) => ({
      params: { message, configuration: { historyLength } },
      field: "configuration.historyLength",
    }),
    "historyLength",
  ),
  ...rowsOf(
    ["true", 1, "yes", {}],
    (returnImmediately) => ({
      params: { message, configuration: { returnImmediately } },
      field: "configuration.returnImmediately",
    }),
    "returnImmediately",
  ),
  ...rowsOf(
    ["text/plain", {}, 1],
    (acceptedOutputModes) => ({
      params: { message, configuration: { acceptedOutputModes } },
      field: "configuration.acceptedOutputModes",
    }),
    "acceptedOutputModes",
  ),
  ...rowsOf(
    [{}, { url: "" }, { url: "ftp://x.example/" }, { url: "https://u:p@x.example/" }, {
      url: "https://x.example/\r\n",
    }],
    (push) => ({
      params: { message, configuration: { taskPushNotificationConfig: push } },
      field: "configuration.taskPushNotificationConfig.url",
    }),
    "a webhook",
  ),
  ...rowsOf(
    ["a\r\nX: y", "\u00e9", ""],
    (token) => ({
      params: { message, configuration: { taskPushNotificationConfig: { url: "https://x.example/", token } } },
      field: "configuration.taskPushNotificationConfig.token",
    }),
    "a webhook's token",
  ),
  ...rowsOf(
    [-1, 1.5, "1", null, true, 1e20, {}],
    (hops) => ({
      params: { message, metadata: { "volcanic.hops": hops } },
      field: `metadata["volcanic.hops"]`,
    }),
    "hops",
  ),
  ...rowsOf(
    [-1, "1"],
    (hops) => ({
      params: withMessage({ metadata: { "volcanic.hops": hops } }),
      field: `message.metadata["volcanic.hops"]`,
    }),
    "the message's hops",
  ),
  ...rowsOf(
    ["true", 1, null],
    (dedupe) => ({
      params: withMessage({ metadata: { "volcanic.dedupe": dedupe } }),
      field: `message.metadata["volcanic.dedupe"]`,
    }),
    "dedupe",
  ),
  ...rowsOf(["x", []], (metadata) => ({ params: { message, metadata }, field: "metadata" }), "the request's metadata"),
  ...rowsOf(noText, (tenant) => ({ params: { message, tenant }, field: "tenant" }), "tenant"),
  ...rowsOf(["x", [message], 1, true], (params) => ({ params, field: "" }), "the request"),
];

/** Every row of protocol.md 1.6 and 1.7, S3 to S6, and the cases of what a message may not be. */
export const badMessages: readonly BadMessage[] = [...messages, ...parts, ...around];
