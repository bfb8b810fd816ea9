/** The inbox: a folder for each account, whose files are imported as they come. */
import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { explain } from "../../../src/operator/explain.ts";
import { printable } from "../../../src/operator/printable.ts";
import { systemCode } from "../../../src/operator/system-code.ts";
import { StoreError } from "../../../src/store/errors.ts";
import { UserError } from "../../../src/user-error.ts";
import { type DropFolder, openDropFolder } from "./drop-folder.ts";
import type { Outcome, WhenDone } from "./put-away.ts";
import { createRests } from "./rests.ts";
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
  readonly whenDone: WhenDone;
  readonly now: () => number;
  /** Hears of each file that was taken, and of each folder that goes nowhere. */
  readonly say: (line: string) => void;
  /** Counts what became of each file. */
  readonly count?: (outcome: Outcome) => void;
}

export interface Inbox {
  /**
   * Takes every complete file. Gives the number of files that are not complete yet. Throws a UserError when the inbox
   * itself is gone.
   */
  look(): Promise<number>;
}

const noFolder = "it is no folder of an account; put it into one, and it is taken.";

/** Looks at nothing until it is asked to. */
export function openInbox(folder: string, { destinationOf, importFile, whenDone, now, say, count }: InboxParts): Inbox {
  const folders = new Map<string, DropFolder>();
  const { tell, complain, isKnown, forget } = createComplaints(say);
  const { isResting, note } = createRests(now);

  /** Nobody can say whose leads are in a file beside the folders. */
  function complainOfStray(name: string): void {
    if (!isKnown(name)) count?.({ kind: "later", reason: noFolder });
    complain(name, `${name}: ${noFolder}`);
  }

  async function take(name: string, dropped: DropFolder, files: readonly string[]): Promise<void> {
    const destination = destinationOf(name, join(folder, name));
    if ("fault" in destination) {
      for (const _ of files) count?.({ kind: "later", reason: destination.fault });
      return complain(name, `${name}/: ${destination.fault}`);
    }
    const importOne = async (...paths: [string, string]) => note(name, await importFile(destination, ...paths));
    for (const file of files) {
      const outcome = await dropped.take(file, importOne, now());
      count?.(outcome);
      const line = `${name}/${file}: ${sentenceOf(outcome, isResting(name))}`;
      // The next file would meet the same trouble.
      if (outcome.kind === "later") return complain(name, line);
      forget(name);
      tell(line);
    }
  }

  /** The trouble of one folder, such as a wrong owner, is none of the others'. */
  async function lookApart(name: string): Promise<number> {
    try {
      return await lookInto(name);
    } catch (cause) {
      const reason = passingTrouble(cause);
      if (reason === null) throw cause;
      count?.({ kind: "later", reason });
      complain(name, `${name}/: ${reason}`);
      return 0;
    }
  }

  /** Takes the complete files of one folder. Gives the number of the others. */
  async function lookInto(name: string): Promise<number> {
    const dropped = folders.getOrInsertComputed(name, () => openDropFolder(join(folder, name), whenDone));
    const ready = dropped.ready(now());
    for (const [file, why] of dropped.passedOver()) complain(`${name}/${file}`, `${name}/${file}: ${why}`);
    if (ready.length > 0 && !isResting(name)) await take(name, dropped, ready);
    return dropped.waiting() - ready.length;
  }

  return {
    async look() {
      let waiting = 0;
      for (const entry of entriesOf(folder)) {
        if (entry.isDirectory()) waiting += await lookApart(entry.name);
        else complainOfStray(entry.name);
      }
      return waiting;
    },
  };
}

/** What keeps files or folders from being taken. It is said once, until it is mended. */
function createComplaints(say: InboxParts["say"]) {
  const known = new Map<string, string>();
  // Whoever may drop files chooses their names.
  const tell = (line: string) => say(printable(line));
  return {
    tell,
    complain(name: string, line: string): void {
      if (known.get(name) !== line) tell(line);
      known.set(name, line);
    },
    isKnown: (name: string) => known.has(name),
    forget: (name: string) => void known.delete(name),
  };
}

/** What keeps files waiting and ends nothing, in words; null for any other trouble. */
function passingTrouble(cause: unknown): string | null {
  const said = cause instanceof StoreError && cause.problem.kind === "node at work" ? explain(cause) : null;
  if (said instanceof UserError) return `its files are tried again: ${said.sentence}`;
  if (cause instanceof Error && "syscall" in cause) return `${cause.message}; mend that, and its files are taken.`;
  // A mistake of ours, which one file has met. Those of others must not wait until it is mended.
  const isOurs = cause instanceof RangeError || cause instanceof TypeError;
  return isOurs ? `its files are tried again: Leadfile failed (${cause.name}: ${cause.message})` : null;
}

function entriesOf(inbox: string): Dirent[] {
  try {
    return readdirSync(inbox, { withFileTypes: true }).filter(({ name }) => !name.startsWith("."));
  } catch (cause) {
    throw new UserError(
      `The folder ${inbox} cannot be read any more (${systemCode(cause) ?? "unknown"}).`,
      "Bring it back, and start this again: what lies in it is taken then.",
    );
  }
}

function sentenceOf(outcome: Outcome, isResting: boolean): string {
  if (outcome.kind === "failed") return `it went to failed/, with what to do beside it: ${outcome.reason}`;
  if (outcome.kind === "later") return `it is tried again${isResting ? " within a minute" : ""}: ${outcome.reason}`;
  const { rejected, remarks = [] } = outcome;
  const away = rejected === 0 ? [] : [`${rejected} row${rejected === 1 ? "" : "s"} went to rejected/`];
  return ["done", ...away, ...remarks.map((remark) => remark.replace(/\.$/, ""))].join("; ");
}
