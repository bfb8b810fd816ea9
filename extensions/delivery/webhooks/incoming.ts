/** Reads the bodies of deliveries, and bounds the memory that all of them take. */
import { mostBytes, tooLarge } from "./body.ts";
import { DeliveryRefused, tryAgain } from "./refusal.ts";

/** The bound for all deliveries that are not on the disk yet. */
const mostBytesAtOnce = 32_000_000;
/** What the engine needs for a text beside its letters. */
const bytesBesideText = 64;

/** The memory of one delivery. What all have together is bounded. */
interface MemoryReservation {
  add(bytes: number): void;
  addTexts(texts: readonly string[]): void;
  release(): void;
}

/** Begins a delivery. `held` has the bytes of all deliveries. */
export function reserveMemory(held: { bytes: number }): MemoryReservation {
  let own = 0;
  const add = (bytes: number) => {
    own += bytes;
    held.bytes += bytes;
    if (held.bytes > mostBytesAtOnce) throw tryAgain("Too many deliveries come at once");
  };
  return {
    add,
    addTexts: (texts) => add(texts.reduce((sum, { length }) => sum + length + bytesBesideText, 0)),
    release() {
      held.bytes -= own;
    },
  };
}

/** Reads a body, and refuses one that is too large. */
export async function readBody(request: Request, memory: MemoryReservation): Promise<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > mostBytes) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of untilClosed(request.body)) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw tooLarge();
    memory.add(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A client that goes away early is refused: that is no failure of ours. */
async function* untilClosed(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  try {
    yield* body ?? [];
  } catch {
    throw new DeliveryRefused("invalid_body", "The connection was closed before the body was complete.");
  }
}
