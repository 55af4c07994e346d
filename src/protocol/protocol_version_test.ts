import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { A2AError, toJsonRpcError } from "./errors.ts";
import { legacyMethods, methods } from "./methods.ts";
import { protocolVersion, type VersionClaim } from "./protocol_version.ts";

const rows: readonly (readonly [claim: VersionClaim, gives: "1.0" | "0.3" | -32009])[] = [
  [{ header: "1.0" }, "1.0"],
  [{ header: "1.0.3" }, "1.0"],
  [{ header: "1.0.0" }, "1.0"],
  [{ header: " 1.0 " }, "1.0"],
  [{ header: "0.3" }, "0.3"],
  [{ header: "0.3.0" }, "0.3"],
  [{ query: "1.0" }, "1.0"],
  [{ header: null, query: "1.0.3" }, "1.0"],
  [{ header: "", query: "0.3" }, "0.3"],
  [{ header: "1.0", query: "9.9" }, "1.0"],
  [{ header: "9.9", query: "1.0" }, -32009],
  [{ header: "2.0" }, -32009],
  [{ query: "2.0" }, -32009],
  [{ header: "1" }, -32009],
  [{ header: "1.1" }, -32009],
  [{ header: "1.0." }, -32009],
  [{ header: "1.0.x" }, -32009],
  [{ header: "1.0.3.4" }, -32009],
  [{ header: "v1.0" }, -32009],
  [{ header: "10.0" }, -32009],
  [{ header: "1.0, 0.3" }, -32009],
  [{ header: "0.2" }, -32009],
  [{ header: "1.0", method: "message/send" }, "1.0"],
  [{ header: "0.3", method: "SendMessage" }, "0.3"],
  [{}, "1.0"],
  [{ header: null, query: null }, "1.0"],
  [{ header: "", query: " " }, "1.0"],
  [{ method: "SendMessage" }, "1.0"],
  [{ method: "message/send" }, "0.3"],
  [{ header: "", method: "tasks/get" }, "0.3"],
  [{ method: "message/Send" }, "1.0"],
  [{ strict: true }, -32009],
  [{ header: " ", strict: true, method: "SendMessage" }, -32009],
  [{ strict: true, method: "message/send" }, -32009],
  [{ header: "1.0", strict: true }, "1.0"],
  [{ query: "1.0", strict: true }, "1.0"],
  [{ header: "0.3", strict: true }, "0.3"],
];
for (const [claim, gives] of rows) {
  Deno.test(`protocolVersion() gives ${gives} for ${JSON.stringify(claim)} [§5.8 versions, case 17]`, () => {
    const version = protocolVersion(claim);
    if (gives !== -32009) return strictEqual(version, gives);
    ok(version instanceof A2AError);
    strictEqual(toJsonRpcError(version).code, -32009);
    ok(/1\.0 and 0\.3 are supported/.test(version.message));
    deepStrictEqual(version.metadata, { supportedVersions: "1.0,0.3" });
  });
}

for (const method of methods) {
  Deno.test(`protocolVersion() refuses 9.9 on ${method} and takes no version as 1.0 [§5.8 versions, case 18]`, () => {
    ok(protocolVersion({ header: "9.9", method }) instanceof A2AError);
    strictEqual(protocolVersion({ method }), "1.0");
  });
}

Deno.test("protocolVersion() knows each method of 0.3 [§5.8 versions]", () => {
  for (const method of legacyMethods.keys()) strictEqual(protocolVersion({ method }), "0.3");
});
