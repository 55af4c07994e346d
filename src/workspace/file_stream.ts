const pieceBytes = 64 * 1024;

/**
 * Returns the bytes of an open file in pieces of 64 KiB, read as they are asked for. It calls `close` at the end, on
 * cancel, and after an error, since no cancel comes then.
 */
export function streamFile(
  readAt: (position: number, length: number) => Promise<Uint8Array<ArrayBuffer>>,
  close: () => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let position = 0;
  return new ReadableStream({
    async pull(controller) {
      const piece = await readAt(position, pieceBytes).catch((error) => {
        close();
        throw error;
      });
      position += piece.length;
      if (piece.length > 0) return controller.enqueue(piece);
      close();
      controller.close();
    },
    cancel: close,
  }, { highWaterMark: 0 });
}
