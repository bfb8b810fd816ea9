/** Leads to standard output, as NDJSON. A lead is taken when it was written; in a file, when it is on the disk. */
import { fstatSync, fsyncSync, type Stats, write as writeFile } from "node:fs";
import { promisify } from "node:util";
import { codeOf } from "../src/exchange.ts";
import type { Lead } from "../src/leadfile.ts";
import { failed, type Outcome, type Receiver } from "./receiver.ts";

const writeSome = promisify(writeFile);

/** The pause before the next try at a full pipe that another program made non-blocking. */
const fullPipeMs = 5;
/** The time for which a reader that does not read can delay a stop. */
const graceMs = 1_000;

/** Standard output as a receiver. It begins with a line break if the last line of a file was cut off. */
export async function standardOutput(): Promise<Receiver> {
  const kind = fstatSync(1);
  // A full disk can take a part of a line. The rest is kept, and is written first at the next try.
  let pending = Buffer.from((await isCutOff(kind)) ? "\n" : "");
  let current: Lead | null = null;
  async function take(lead: Lead): Promise<Outcome> {
    if (lead !== current) pending = Buffer.concat([pending, Buffer.from(`${lineOf(lead)}\n`)]);
    current = lead;
    try {
      while (pending.length > 0) pending = pending.subarray(await write(pending));
      if (kind.isFile()) fsyncSync(1);
      return true;
    } catch (cause) {
      const code = codeOf(cause) ?? "unknown";
      return code === "EPIPE" ? false : failed(`Standard output could not be written (${code}).`);
    }
  }
  const onStop = () => void setTimeout(() => pending.length > 0 && process.exit(0), graceMs).unref();
  return Object.assign(take, { onStop });
}

/** A lead as JSON. On a terminal, a character that it would obey becomes an escape, which means the same in JSON. */
function lineOf(lead: Lead): string {
  const json = JSON.stringify(lead);
  if (!process.stdout.isTTY) return json;
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return json.replaceAll(/[\p{Cc}\p{Cf}]/gu, (letter) => letter.split("").map(escaped).join(""));
}

/** Writes some bytes. Returns how many; 0 if the pipe is full. */
async function write(bytes: Uint8Array): Promise<number> {
  try {
    return (await writeSome(1, bytes)).bytesWritten;
  } catch (cause) {
    if (codeOf(cause) !== "EAGAIN") throw cause;
    await Bun.sleep(fullPipeMs);
    return 0;
  }
}

/** Returns whether a file ends in the middle of a line, as after a kill. A file that may only be written counts as whole. */
async function isCutOff(kind: Stats): Promise<boolean> {
  if (!kind.isFile() || kind.size === 0) return false;
  const end = Bun.file("/dev/stdout").slice(kind.size - 1);
  return (await end.text().catch(() => "\n")) !== "\n";
}
