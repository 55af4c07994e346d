import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { OutboundError } from "@/outbound/outbound_error.ts";
import { failsWith } from "@tests/outbound/failure.ts";
import { labTest } from "@tests/fakes/outbound_lab.ts";

for (const path of ["/stalled-body", "/stalled-chunk"]) {
  labTest(
    `guarded() waits for more of a body as long as it is told, and no longer, as at ${path} [§13 time-limits]`,
    {},
    async (lab) => {
      const response = await lab.send(path, { idleMs: 15_000 });
      const reader = response.body.getReader();
      strictEqual((await reader.read()).value!.length > 0, true);
      const failing = rejects(reader.read(), { name: "OutboundError", code: "BODY_TIMEOUT", phase: "body" });
      await lab.clock.advance(14_999);
      strictEqual(lab.connections[0]!.isOpen, true);
      await lab.clock.advance(1);
      await failing;
    },
  );
}

labTest(
  "guarded() ends a body that comes in small pieces for ever when its time is up [§13 time-limits]",
  {},
  async (lab) => {
    const response = await lab.send("/slow-body", { idleMs: 20_000, totalMs: 60_000 });
    const reader = response.body.getReader();
    for (let elapsed = 0; elapsed < 60_000; elapsed += 10_000) {
      strictEqual((await reader.read()).done, false);
      await lab.clock.advance(10_000);
    }
    await rejects(reader.read(), { name: "OutboundError", code: "DEADLINE", phase: "body" });
  },
);

for (const path of ["/short-of-length", "/short-of-chunk", "/no-last-chunk", "/close-without-notify"]) {
  labTest(`guarded() says that a body was cut, as at ${path} [§13 narrow-reader]`, {}, async (lab) => {
    await failsWith(lab.send(path), ["BODY_TRUNCATED", "body"]);
  });
}

labTest("guarded() says that a body was cut when the connection is reset [§13 narrow-reader]", {
  ...{ servers: ["reset"], needs: ["node-tls"] },
}, async (lab) => {
  const response = await lab.send("/");
  lab.release();
  await rejects(response.bytes(), { name: "OutboundError", code: "BODY_TRUNCATED", phase: "body" });
});

const malformed = [
  ...["/chunk-no-number", "/chunk-negative", "/chunk-0x", "/chunk-overflow", "/chunk-too-long", "/chunk-lf"],
  ...["/chunk-extension-flood", "/chunk-extension-lf", "/chunk-zeros", "/trailer-flood"],
];
for (const path of malformed) {
  labTest(`guarded() takes no malformed chunks, as at ${path} [§13 narrow-reader]`, {}, async (lab) => {
    await failsWith(lab.send(path), ["MALFORMED_RESPONSE", "body"]);
  });
}

labTest(
  "guarded() refuses a body that is too long by its own word before the first byte of it [§13 body-bounded]",
  {},
  async (lab) => {
    await rejects(lab.send("/length/1000001", { bytesMax: 1_000_000 }), (error) => {
      deepStrictEqual(error instanceof OutboundError && [error.code, error.phase], ["BODY_TOO_LARGE", "body"]);
      return true;
    });
  },
);

for (const path of ["/chunked/2000000", "/close/2000000"]) {
  labTest(`guarded() stops a body where it becomes too long, as at ${path} [§13 body-bounded]`, {}, async (lab) => {
    const response = await lab.send(path, { bytesMax: 1_000_000 });
    let bytes = 0;
    await rejects(async () => {
      for await (const piece of response.body) bytes += piece.length;
    }, { name: "OutboundError", code: "BODY_TOO_LARGE", phase: "body" });
    strictEqual(bytes <= 1_000_000, true);
  });
}

for (const path of ["/length/1000000", "/chunked/1000000", "/close/1000000"]) {
  labTest(
    `guarded() takes a body that is just as long as it may be, as at ${path} [§13 body-bounded]`,
    {},
    async (lab) => {
      strictEqual((await (await lab.send(path, { bytesMax: 1_000_000 })).bytes()).length, 1_000_000);
    },
  );
}

for (const path of ["/gzip", "/brotli"]) {
  labTest(`guarded() refuses an encoding that it did not ask for, as at ${path} [§13 encodings]`, {}, async (lab) => {
    await failsWith(lab.send(path), ["ENCODING_FORBIDDEN", "head"]);
  });
}

for (const path of ["/gzip-twice", "/brotli"]) {
  labTest(
    `guarded() refuses an encoding other than gzip when it may decode that, as at ${path} [§13 encodings]`,
    {},
    async (lab) => {
      await failsWith(lab.send(path, { encoding: "gunzip" }), ["ENCODING_FORBIDDEN", "head"]);
    },
  );
}

labTest("guarded() decodes gzip when it is told to [§13 encodings]", {}, async (lab) => {
  strictEqual(await (await lab.send("/gzip", { encoding: "gunzip" })).text(), '{"hello":"gzip"}');
});

labTest(
  "guarded() stops gzip where it becomes too long, decoded [§13 encodings, §13 body-bounded]",
  {},
  async (lab) => {
    const failing = lab.send("/gzip-bomb", { encoding: "gunzip", bytesMax: 10_000_000 });
    await failsWith(failing, ["BODY_TOO_LARGE", "body"]);
  },
);

for (const path of ["/gzip-cut", "/gzip-none"]) {
  labTest(`guarded() takes no malformed gzip, as at ${path} [§13 encodings]`, {}, async (lab) => {
    await failsWith(lab.send(path, { encoding: "gunzip" }), ["MALFORMED_RESPONSE", "body"]);
  });
}
