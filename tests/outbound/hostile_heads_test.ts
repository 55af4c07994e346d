import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { failsWith } from "@tests/outbound/failure.ts";
import { labTest } from "@tests/fakes/outbound_lab.ts";
import { web } from "@tests/fakes/outbound_web.ts";

const malformed = [
  ...["/101", "/interim-flood", "/length-and-chunked", "/gzip-chunked", "/coding-identity", "/coding-unknown"],
  ...["/coding-twice", "/coding-on-1-0", "/coding-space-colon", "/length-negative", "/length-plus", "/length-hex"],
  ...["/length-empty", "/length-huge", "/lengths-differ", "/length-list-differs", "/header-cr", "/header-nul"],
  ...["/header-lf", "/header-folded", "/header-no-colon", "/header-no-name", "/header-space-in-name", "/status-20"],
  ...["/status-abc", "/status-099", "/status-600", "/status-999", "/status-2000", "/version-2", "/version-1-2"],
  ...["/version-icy", "/space-first", "/line-first", "/noise"],
];
for (const path of malformed) {
  labTest(`guarded() takes no malformed head, as at ${path} [§13 narrow-reader]`, {}, async (lab) => {
    await failsWith(lab.send(path), ["MALFORMED_RESPONSE", "head"]);
  });
}

for (
  const path of ["/header-1-mb", "/header-60-kb", "/headers-10000", "/headers-150", "/endless-header", "/reason-1-mb"]
) {
  labTest(`guarded() reads no head without end, as at ${path} [§13 narrow-reader]`, {}, async (lab) => {
    await failsWith(lab.send(path), ["HEAD_TOO_LARGE", "head"]);
  });
}

for (const path of ["/cut-in-head", "/empty", "/version-0-9"]) {
  labTest(
    `guarded() says that the connection was closed where there is no whole head, as at ${path} [§13 narrow-reader]`,
    {},
    async (lab) => {
      await failsWith(lab.send(path), ["CONNECTION_CLOSED", "head"]);
    },
  );
}

for (const path of ["/300", "/301-nowhere", "/302-to-loopback", "/307-to-loopback", "/308-to-itself"]) {
  labTest(
    `guarded() refuses a redirect and goes nowhere, as at ${path} [§13 redirect-refused, case 31]`,
    {},
    async (lab) => {
      const { isRetryable } = await failsWith(lab.send(path), ["REDIRECT_FORBIDDEN", "head"]);
      strictEqual(isRetryable, false);
      await lab.allSeen();
      strictEqual(lab.connections.length, 1);
      deepStrictEqual(lab.attempts, [web.public]);
    },
  );
}

labTest("guarded() waits for a head as long as it is told, and no longer [§13 time-limits]", {}, async (lab) => {
  const failing = failsWith(lab.send("/never", { headMs: 15_000 }), ["HEAD_TIMEOUT", "head"]);
  await lab.until(([first]) => first?.request !== undefined);
  await lab.clock.advance(14_999);
  strictEqual(lab.connections[0]!.isOpen, true);
  await lab.clock.advance(1);
  await failing;
});

for (const path of ["/slow-head", "/slow-lines"]) {
  labTest(
    `guarded() is not kept waiting by a head that comes in small pieces, as at ${path} [§13 time-limits]`,
    {},
    async (lab) => {
      const failing = failsWith(lab.send(path), ["HEAD_TIMEOUT", "head"]);
      for (let elapsed = 0; elapsed < 30_000; elapsed += 10_000) {
        const { pieces = 0 } = lab.connections[0] ?? {};
        await lab.until(([first]) => first !== undefined && first.pieces >= pieces + 5);
        await lab.clock.advance(10_000);
      }
      await failing;
    },
  );
}
