/** A host's thread that does what no host should: named by the setting `mode`. */
import type { FromHost, MainAnswer, ToHost } from "@/host/messages.ts";

const scope = self as unknown as {
  postMessage(message: FromHost): void;
  addEventListener(type: "message", listen: (event: MessageEvent<ToHost>) => void): void;
};

const asked = Promise.withResolvers<MainAnswer>();

const modes: Readonly<Record<string, () => unknown>> = {
  "throws": () => {
    throw new Error("boom");
  },
  "rejects": () => Promise.reject(new Error("later boom")),
  "closes": () => self.close(),
  "exits": () => Deno.exit(0),
  "gets stuck": () => {
    for (;;);
  },
  "refuses": () => scope.postMessage({ kind: "refused", message: "Cannot start" }),
  "is lost": () => scope.postMessage({ kind: "lost", message: "Lost the lock" }),
  "asks": async () => {
    scope.postMessage({ kind: "ask", id: 7, request: { kind: "resolve secret", reference: "env:A2A_KEY_X" } });
    scope.postMessage({ kind: "refused", message: JSON.stringify(await asked.promise) });
  },
  "serves": () =>
    scope.postMessage({ kind: "started", report: { address: { hostname: "x", port: 1 }, workspaces: [] } }),
};

scope.addEventListener("message", ({ data }) => {
  if (data.kind === "start") {
    scope.postMessage({ kind: "started", report: { address: { hostname: "x", port: 1 }, workspaces: [] } });
    return void modes[data.config.settings.mode!]!();
  }
  if (data.kind === "answer" && data.id === 7) asked.resolve(data.answer);
  if (data.kind === "ping") scope.postMessage({ kind: "alive" });
  if (data.kind === "stop" && data.graceMs === 0) scope.postMessage({ kind: "stopped" });
});
scope.postMessage({ kind: "ready" });
