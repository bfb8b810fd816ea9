/** The inbox: a folder for each account, whose files are imported as they come. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type DropFolder, type Outcome, openDropFolder } from "./drop-folder.ts";
import type { ImportSettings } from "./settings.ts";

/** Whose leads the files of a folder are, and how they are read. */
export interface Destination {
  /** The id or exact name of the account. */
  readonly account: string;
  readonly settings: ImportSettings;
}

interface InboxParts {
  /** Where the files of a folder go, or why they go nowhere. */
  readonly destinationOf: (name: string, path: string) => Destination | { readonly fault: string };
  readonly importFile: (destination: Destination, file: string, rejects: string) => Promise<Outcome>;
  /** Whether a file that was imported is kept under done/, or removed. */
  readonly whenDone: "keep" | "remove";
  readonly now: () => number;
  /** Hears of each file that was taken, and of each folder that goes nowhere. */
  readonly say: (line: string) => void;
}

export interface Inbox {
  /** Takes every complete file. Gives the number of files that are not complete yet. */
  look(): Promise<number>;
}

export function openInbox(folder: string, { destinationOf, importFile, whenDone, now, say }: InboxParts): Inbox {
  const folders = new Map<string, DropFolder>();
  const complaints = new Map<string, string>();

  /** Says what keeps the files of a folder from being taken once, until it is mended. */
  function complain(name: string, line: string): void {
    if (complaints.get(name) !== line) say(line);
    complaints.set(name, line);
  }

  async function take(name: string, dropped: DropFolder, files: readonly string[]): Promise<void> {
    const destination = destinationOf(name, join(folder, name));
    if ("fault" in destination) return complain(name, `${name}/: ${destination.fault}`);
    for (const file of files) {
      const outcome = await dropped.take(file, (path, rejects) => importFile(destination, path, rejects));
      const line = `${name}/${file}: ${sentenceOf(outcome)}`;
      // The next file would meet the same trouble.
      if (outcome.kind === "later") return complain(name, line);
      complaints.delete(name);
      say(line);
    }
  }

  /** The same for one folder. */
  async function lookInto(name: string): Promise<number> {
    let dropped = folders.get(name);
    if (dropped === undefined) folders.set(name, (dropped = openDropFolder(join(folder, name), whenDone)));
    const ready = dropped.ready(now());
    const waiting = dropped.waiting() - ready.length;
    if (ready.length > 0) await take(name, dropped, ready);
    return waiting;
  }

  return {
    async look() {
      const entries = readdirSync(folder, { withFileTypes: true });
      let waiting = 0;
      for (const entry of entries) {
        if (entry.isDirectory() && !entry.name.startsWith(".")) waiting += await lookInto(entry.name);
      }
      return waiting;
    },
  };
}

function sentenceOf(outcome: Outcome): string {
  if (outcome.kind === "failed") return `it went to failed/: ${outcome.reason}`;
  if (outcome.kind === "later") return `it is tried again: ${outcome.reason}`;
  return outcome.rejected === 0 ? "done" : `done; ${outcome.rejected} rows went to rejected/`;
}
