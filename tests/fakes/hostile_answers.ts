import type { Answer, Answers, Exchange } from "./hostile_connection.ts";
import { hostileBodies } from "./hostile_bodies.ts";
import { hostileHeads } from "./hostile_heads.ts";
import { ordinaryAnswers } from "./ordinary_answers.ts";

const answers: Answers = { ...ordinaryAnswers, ...hostileHeads, ...hostileBodies };

/** The answer to a path. `/length/5`, `/chunked/5` and `/close/5` give bodies of so many bytes, framed so. */
export function answerTo(path: string): Answer {
  const answer = answers[path];
  if (answer !== undefined) return answer;
  const [, framing, bytes] = /^\/(length|chunked|close)\/(\d+)$/.exec(path) ?? [];
  if (framing === undefined) return "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno";
  return ({ write }) => writeBody(write, framing as Framing, Number(bytes));
}

type Framing = "length" | "chunked" | "close";

const heads: Readonly<Record<Framing, (bytes: number) => string>> = {
  length: (bytes) => `Content-Length: ${bytes}\r\n`,
  chunked: () => "Transfer-Encoding: chunked\r\n",
  close: () => "",
};

async function writeBody(write: Exchange["write"], framing: Framing, bytes: number): Promise<void> {
  await write(`HTTP/1.1 200 OK\r\n${heads[framing](bytes)}\r\n`);
  const pieceBytes = 64 * 1024;
  for (let left = bytes; left > 0; left -= pieceBytes) {
    const piece = "a".repeat(Math.min(left, pieceBytes));
    await write(framing === "chunked" ? `${piece.length.toString(16)}\r\n${piece}\r\n` : piece);
  }
  if (framing === "chunked") await write("0\r\n\r\n");
}
