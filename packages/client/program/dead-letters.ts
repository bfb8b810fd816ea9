/** The file of --dead-letter: the leads that a receiver rejects permanently, one line of JSON each. */
import { type FileHandle, open } from "node:fs/promises";
import { codeOf } from "../src/exchange.ts";
import { type Lead, LeadfileError } from "../src/leadfile.ts";
import { printable } from "./terminal.ts";

export interface DeadLetters {
  readonly path: string;
  /** The number of attempts after which a lead is one, whatever the reason. */
  readonly giveUpAfter: number;
  /** Returns when the line is on the disk. */
  readonly add: (lead: Lead, reason: string, attempts: number) => Promise<void>;
}

/** Opens the file, which must be writable before the first lead. Throws a LeadfileError that names it. */
export async function openDeadLetters(path: string, giveUpAfter: number, now: () => number): Promise<DeadLetters> {
  await appendTo(path, async () => undefined).catch((cause: unknown) => {
    throw new LeadfileError(
      `${printable(path)} could not be written (${codeOf(cause) ?? "unknown"}). Check its folder and disk.`,
    );
  });
  return {
    path,
    giveUpAfter,
    add: (lead, reason, attempts) =>
      appendTo(path, async (file) => {
        const line = JSON.stringify({ failed_at: new Date(now()).toISOString(), reason, attempts, lead });
        // A crash or a full disk may have cut off the last line.
        await file.appendFile(`${(await isCutOff(file)) ? "\n" : ""}${line}\n`);
        await file.sync();
      }),
  };
}

async function appendTo(path: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, "a+", 0o600);
  try {
    await write(file);
  } finally {
    await file.close();
  }
}

async function isCutOff(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer.toString() !== "\n";
}
