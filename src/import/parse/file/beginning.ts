/** The beginning of a file: what it is shows there, before the whole of it is read. */

export interface Beginning {
  /** The first bytes: enough of them, or all that there are. */
  readonly head: Buffer;
  /** What comes behind the head. */
  readonly rest: AsyncIterableIterator<Buffer>;
  /** All of it, the head included. */
  readonly whole: AsyncGenerator<Buffer>;
}

/** Reads until the first bytes are enough. */
export async function lookAhead(
  chunks: AsyncIterableIterator<Buffer>,
  isEnough: (head: Buffer) => boolean,
): Promise<Beginning> {
  let head = Buffer.alloc(0);
  while (!isEnough(head)) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  return { head, rest: chunks, whole: prepend(head, chunks) };
}

/** The same with something in front of it. */
export async function* prepend(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  yield* rest;
}
