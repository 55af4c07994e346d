import { deepStrictEqual, rejects } from "node:assert/strict";
import { MainRequests } from "./main_requests.ts";
import type { FromHost, MainRequest } from "./messages.ts";

const secret: MainRequest = { kind: "resolve secret", reference: "env:A2A_KEY_X" };

Deno.test("MainRequests gives each request its own answer, in whatever order they come [§4 typed-requests]", async () => {
  const said: FromHost[] = [];
  const requests = new MainRequests({ say: (message) => void said.push(message) });
  const { signal } = new AbortController();
  const asked = [requests.ask(secret, signal), requests.ask({ ...secret, reference: "b" }, signal)];
  deepStrictEqual(said, [
    { kind: "ask", id: 1, request: secret },
    { kind: "ask", id: 2, request: { ...secret, reference: "b" } },
  ]);
  requests.answered(2, { kind: "refused", why: "second" });
  requests.answered(1, { kind: "refused", why: "first" });
  requests.answered(1, { kind: "refused", why: "again" });
  const refused = (why: string) => ({ kind: "refused", why });
  deepStrictEqual(await Promise.all(asked), [refused("first"), refused("second")]);
});

Deno.test("MainRequests stops waiting when its signal aborts, and drops a late answer [§4 typed-requests]", async () => {
  const requests = new MainRequests({ say: () => {} });
  const enough = new AbortController();
  const asked = requests.ask(secret, enough.signal);
  enough.abort(new Error("enough"));
  await rejects(asked, /enough/);
  requests.answered(1, { kind: "refused", why: "late" });
  await rejects(requests.ask(secret, enough.signal), /enough/);
});
