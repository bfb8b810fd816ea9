/** Leads to standard output, as NDJSON. A lead is taken when it was written; in a file, when it is on the disk. */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, type Stats, write as writeFile } from "node:fs";
import { promisify } from "node:util";
import { forTerminal } from "../../../src/cli/terminal/output.ts";
import { systemCode } from "../../../src/operator/system-code.ts";
import type { Lead } from "../src/leadfile.ts";
import { failed, type Outcome, type Receiver, taken } from "./receiver.ts";

const writeSome = promisify(writeFile);

/** The pause before the next try at a full pipe, where another program made it non-blocking. */
const fullPipeMs = 5;
/** How long a reader that does not read may delay a stop. */
const graceMs = 1_000;

/** Standard output as a receiver. Where the last line of a file was cut off, a line break comes first. */
export function standardOutput(): Receiver {
  const kind = fstatSync(1);
  // A full disk may take a part of a line. The rest stays here, and goes first at the next try.
  let pending = Buffer.from(isCutOff(kind) ? "\n" : "");
  let inHand: Lead | null = null;
  async function empty(): Promise<Outcome> {
    while (pending.length > 0) {
      const written = await write(pending);
      if (typeof written !== "number") return written;
      pending = pending.subarray(written);
    }
    return kind.isFile() ? sync() : taken;
  }
  return {
    take(lead, stop) {
      if (lead !== inHand) pending = Buffer.concat([pending, Buffer.from(`${forTerminal(JSON.stringify(lead))}\n`)]);
      inHand = lead;
      return withinGrace(empty(), stop);
    },
  };
}

/** How many bytes were written, 0 when the reader needs a moment, or why it was none. */
async function write(bytes: Uint8Array): Promise<number | Outcome> {
  try {
    return (await writeSome(1, bytes)).bytesWritten;
  } catch (cause) {
    const code = systemCode(cause) ?? "unknown";
    if (code === "EPIPE") return { kind: "gone" };
    if (code !== "EAGAIN") return unwritable(code);
    await Bun.sleep(fullPipeMs);
    return 0;
  }
}

function sync(): Outcome {
  try {
    fsyncSync(1);
    return taken;
  } catch (cause) {
    return unwritable(systemCode(cause) ?? "unknown");
  }
}

function unwritable(code: string): Outcome {
  return failed(`Standard output could not be written (${code}).`);
}

/** What became of a try. A moment after a stop, nobody waits for it any more. */
async function withinGrace(trying: Promise<Outcome>, stop: AbortSignal): Promise<Outcome> {
  const over = new AbortController();
  const stopped = new Promise<Outcome>((resolve) => {
    const end = () => setTimeout(resolve, graceMs, { kind: "gone" }).unref();
    if (stop.aborted) end();
    stop.addEventListener("abort", end, { signal: over.signal });
  });
  return Promise.race([trying, stopped]).finally(() => over.abort());
}

/** Whether a file ends in the middle of a line, as after a kill. A file that cannot be read counts as whole. */
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
