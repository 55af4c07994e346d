import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { curlLine, localAddress } from "./curl_line.ts";

Deno.test("curlLine() is the first example of the documentation with the key put in [§3 curl-line]", () => {
  const message = '{"role":"ROLE_USER","messageId":"m1","parts":[{"text":"hi"}]}';
  strictEqual(
    curlLine("http://127.0.0.1:5099", "k_1"),
    "curl -s -H 'X-API-Key: k_1' -H 'Content-Type: application/json' http://127.0.0.1:5099/a2a " +
      `-d '{"jsonrpc":"2.0","id":"1","method":"SendMessage","params":{"message":${message}}}'`,
  );
});

Deno.test("localAddress() reaches a listener on all addresses by the loopback one [§3 curl-line]", () => {
  const at = (hostname: string) => localAddress({ hostname, port: 5099 });
  deepStrictEqual(["127.0.0.1", "0.0.0.0", "::", "::1", "a.example"].map(at), [
    "http://127.0.0.1:5099",
    "http://127.0.0.1:5099",
    "http://[::1]:5099",
    "http://[::1]:5099",
    "http://a.example:5099",
  ]);
});
