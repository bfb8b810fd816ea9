/** Leads to standard output, as NDJSON: taken is what was written, and in a file what is on the disk. */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, type Stats, write as writeFile } from "node:fs";
import { promisify } from "node:util";
import type { Lead } from "../../../client/src/leadfile.ts";
import { type Receiver, type Taking, taken } from "./receiver.ts";

const writeSome = promisify(writeFile);

/** How long a reader that others made unwaiting is left to empty a full pipe. */
const fullPipeMs = 5;
/** How long a reader that stands still may hold up a stop. */
const graceMs = 1_000;

/** Standard output as a receiver; a file whose last line was cut off gets its end first. */
export function standardOutput(): Receiver {
  const kind = fstatSync(1);
  // Emptied as it is written: what a full disk did not take is written before anything else.
  let pending = Buffer.from(isCutOff(kind) ? "\n" : "");
  let inHand: Lead | null = null;
  async function empty(): Promise<Taking> {
    while (pending.length > 0) {
      const written = await write(pending);
      if (typeof written !== "number") return written;
      pending = pending.subarray(written);
    }
    return kind.isFile() ? sync() : taken;
  }
  return {
    take(lead, stop) {
      if (lead !== inHand) pending = Buffer.concat([pending, Buffer.from(`${JSON.stringify(lead)}\n`)]);
      inHand = lead;
      return withinGrace(empty(), stop);
    },
  };
}

/** How many bytes were written, 0 when the reader needs a moment, or why it was none. */
async function write(bytes: Uint8Array): Promise<number | Taking> {
  try {
    return (await writeSome(1, bytes)).bytesWritten;
  } catch (cause) {
    const code = codeOf(cause);
    if (code === "EPIPE") return { kind: "gone" };
    if (code !== "EAGAIN") return failed(code);
    await Bun.sleep(fullPipeMs);
    return 0;
  }
}

function sync(): Taking {
  try {
    fsyncSync(1);
    return taken;
  } catch (cause) {
    return failed(codeOf(cause));
  }
}

function failed(code: string): Taking {
  return { kind: "failed", why: `Standard output could not be written (${code}).`, retryAfterMs: 0 };
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
}

/** What came of a try, or a moment after the stop that nobody takes it. */
async function withinGrace(trying: Promise<Taking>, stop: AbortSignal): Promise<Taking> {
  const over = new AbortController();
  const stopped = new Promise<Taking>((resolve) => {
    const end = () => setTimeout(resolve, graceMs, { kind: "gone" }).unref();
    if (stop.aborted) end();
    stop.addEventListener("abort", end, { signal: over.signal });
  });
  return Promise.race([trying, stopped]).finally(() => over.abort());
}

/** Whether a file ends in the middle of a line, as a kill may leave it. One that cannot be read is taken as whole. */
function isCutOff(kind: Stats): boolean {
  if (!kind.isFile() || kind.size === 0) return false;
  const last = Buffer.alloc(1);
  try {
    const file = openSync("/dev/stdout", "r");
    try {
      readSync(file, last, 0, 1, kind.size - 1);
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
  return last.toString("latin1") !== "\n";
}
