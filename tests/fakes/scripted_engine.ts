import type { Engine, EngineEvent, EngineSession, Prompt, SessionOptions } from "@/engine/engine.ts";

/** What a test makes of an engine; what is left out works and does nothing. */
export interface EngineScript {
  readonly open?: (options: SessionOptions) => Promise<void>;
  readonly turn?: (prompt: Prompt, signal: AbortSignal, options: SessionOptions) => AsyncIterable<EngineEvent>;
  readonly close?: () => Promise<void>;
}

/** An engine that does what a test says, also what no engine should: throw, stop in the middle, hang. */
export interface ScriptedEngine extends Engine {
  /** `open <scope>`, `turn <scope>`, `kill <scope>` and `close <scope>`, in the order they came. */
  readonly log: readonly string[];
}

export function createScriptedEngine(script: EngineScript): ScriptedEngine {
  const log: string[] = [];
  return {
    kind: "faux",
    log,
    async open(options): Promise<EngineSession> {
      const { scope } = options;
      log.push(`open ${scope}`);
      await script.open?.(options);
      return {
        turn(prompt, signal) {
          log.push(`turn ${scope}`);
          return script.turn?.(prompt, signal, options) ?? answerNothing();
        },
        kill: () => void log.push(`kill ${scope}`),
        async close() {
          log.push(`close ${scope}`);
          await script.close?.();
        },
      };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function* answerNothing(): AsyncGenerator<EngineEvent, void, void> {
  yield { kind: "end", outcome: { kind: "answered", text: "", truncated: false } };
}
