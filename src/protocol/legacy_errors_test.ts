import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { A2AError, errorTable, type Reason } from "./errors.ts";
import { inLegacyNames, legacyError, legacyHttpError } from "./legacy_errors.ts";

for (const reason of Object.keys(errorTable) as Reason[]) {
  const { code, http, text, domain, reason: sent } = errorTable[reason];
  Deno.test(`legacyError() of ${reason} has the code of 1.0, and data that is an object [§5.8 legacy-errors]`, () => {
    const error = legacyError(new A2AError(reason));
    const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: sent, domain };
    deepStrictEqual(error, { code, message: text, data: { details: [info] } });
    deepStrictEqual(legacyHttpError(new A2AError(reason)), { status: http, body: error });
  });
}

/** The errors of A2A 0.3 §8.2: all the numbers there are. */
const codes: readonly (readonly [Reason, number])[] = [
  ["PARSE_ERROR", -32700],
  ["INVALID_REQUEST", -32600],
  ["METHOD_NOT_FOUND", -32601],
  ["INVALID_PARAMS", -32602],
  ["INTERNAL", -32603],
  ["TASK_NOT_FOUND", -32001],
  ["TASK_NOT_CANCELABLE", -32002],
  ["PUSH_NOTIFICATION_NOT_SUPPORTED", -32003],
  ["UNSUPPORTED_OPERATION", -32004],
  ["CONTENT_TYPE_NOT_SUPPORTED", -32005],
  ["INVALID_AGENT_RESPONSE", -32006],
  ["EXTENDED_AGENT_CARD_NOT_CONFIGURED", -32007],
];

Deno.test("the codes of 0.3 are those of the table [§5.8 legacy-errors]", () => {
  for (const [reason, code] of codes) strictEqual(legacyError(new A2AError(reason)).code, code);
});

const names = [
  ["message.parts[3].raw", "message.parts[3].file.bytes"],
  ["message.parts[0].url", "message.parts[0].file.uri"],
  ["message.parts[0].filename", "message.parts[0].file.name"],
  ["message.parts[0].mediaType", "message.parts[0].file.mimeType"],
  ["message.parts[0].data", "message.parts[0].data"],
  ["configuration.taskPushNotificationConfig.url", "configuration.pushNotificationConfig.url"],
  [
    "configuration.taskPushNotificationConfig.authentication.scheme",
    "configuration.pushNotificationConfig.authentication.schemes",
  ],
  ["message.messageId", "message.messageId"],
  ["", ""],
] as const;

for (const [current, legacy] of names) {
  Deno.test(`inLegacyNames() names ${current || "the request"} as 0.3 does [§5.8 legacy-errors]`, () => {
    const fieldViolations = [{ field: current, description: "is $& odd" }];
    const message = `Cannot read the request: ${current || "it"} is $& odd`;
    const error = inLegacyNames(new A2AError("INVALID_PARAMS", { message, fieldViolations }), "SendMessage");
    deepStrictEqual(error.fieldViolations, [{ field: legacy, description: "is $& odd" }]);
    strictEqual(error.message, `Cannot read the request: ${legacy || "it"} is $& odd`);
  });
}

Deno.test("inLegacyNames() places the fields of a webhook, and leaves an error without fields alone [§5.8 legacy-errors]", () => {
  const fieldViolations = [{ field: "url", description: "is required" }, {
    field: "taskId",
    description: "is required",
  }];
  const named = inLegacyNames(new A2AError("INVALID_PARAMS", { fieldViolations }), "CreateTaskPushNotificationConfig");
  deepStrictEqual(named.fieldViolations.map(({ field }) => field), ["pushNotificationConfig.url", "taskId"]);
  const plain = new A2AError("TASK_NOT_FOUND");
  strictEqual(inLegacyNames(plain, "GetTask"), plain);
});
