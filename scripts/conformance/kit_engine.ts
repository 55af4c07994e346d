import type { Engine, EngineEvent, Prompt, TurnOutcome } from "@/engine/engine.ts";
import type { Clock } from "@/time/clock.ts";
import { kitAnswer } from "./kit_answers.ts";

/** Makes an engine that does with each message what the conformance kit wants, by the message's id. */
export function createKitEngine({ clock }: { readonly clock: Clock }): Engine {
  return {
    kind: "faux",
    open() {
      const killed = new AbortController();
      return Promise.resolve({
        turn: (prompt, signal) => turn(prompt, { clock, stop: AbortSignal.any([signal, killed.signal]) }),
        kill: () => killed.abort(),
        close: () => Promise.resolve(),
      });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

interface TurnSetting {
  readonly clock: Clock;
  readonly stop: AbortSignal;
}

async function* turn(prompt: Prompt, setting: TurnSetting): AsyncGenerator<EngineEvent, void, void> {
  yield { kind: "end", outcome: yield* play(prompt, setting) };
}

async function* play(
  { messageId = "", tools }: Prompt,
  { clock, stop }: TurnSetting,
): AsyncGenerator<EngineEvent, TurnOutcome, void> {
  const answer = kitAnswer(messageId);
  switch (answer.kind) {
    case "text": {
      const { pieces, waitMs = 0 } = answer;
      if (waitMs > 0) await clock.sleep(waitMs, stop).catch(() => {});
      if (stop.aborted) return { kind: "aborted" };
      for (const text of pieces) yield { kind: "text", text };
      return { kind: "answered", text: pieces.join(""), truncated: false };
    }
    case "file": {
      const written = await tools.write!(answer.name, new TextEncoder().encode(answer.content));
      const sent = written.kind === "done" ? await tools.send!(written.path!) : written;
      if (sent.kind === "refused") return { kind: "failed", message: sent.why };
      return { kind: "answered", text: "", truncated: false };
    }
    case "question":
      return { kind: "asked", question: answer.text, text: "" };
    case "failure":
      return { kind: "failed", message: answer.text };
    default:
      return answer satisfies never;
  }
}
