import { briefEvent } from "@tests/fakes/run_service_fixture.ts";
import { eventsOf } from "@tests/fakes/wire_reply.ts";
import type { StreamJson } from "@/protocol/task.ts";

/** A stream that is being read all the time. */
export interface WatchedStream {
  /** What came so far, comments as they are, events short: `task working`, `response =text`. */
  readonly seen: readonly string[];
  readonly isOver: boolean;
  /** Resolves at the end of the stream. */
  readonly reading: Promise<void>;
  /** As a client that closes its connection. */
  leave(): Promise<void>;
}

/** Reads a stream piece by piece. */
export function watchStream(answer: Response): WatchedStream {
  const reader = answer.body!.getReader();
  const seen: string[] = [];
  let isOver = false;
  async function read(): Promise<void> {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const text = new TextDecoder().decode(next.value);
      if (text.startsWith(":")) seen.push("comment");
      else for (const event of eventsOf(text)) seen.push(brief(event));
    }
    isOver = true;
  }
  return {
    seen,
    reading: read(),
    leave: () => reader.cancel(),
    get isOver() {
      return isOver;
    },
  };
}

function brief(event: unknown): string {
  const isError = typeof event === "object" && event !== null && "error" in event;
  return isError ? `error ${JSON.stringify(event.error)}` : briefEvent(event as StreamJson);
}
