/** An inbox for tests, with a clock and an import that the test controls. */
import { appendFileSync, existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Outcome } from "../../../../extensions/delivery/inbox/archive.ts";
import { Inbox } from "../../../../extensions/delivery/inbox/inbox.ts";
import { settingsIn } from "../../../../extensions/delivery/inbox/settings.ts";
import type { ImportSettings } from "../../../../src/cli/lead/import/options.ts";
import { UserError } from "../../../../src/runtime/user-error.ts";
import type { Admin } from "../../../support/admin.ts";
import { aFolder } from "../../../support/folder.ts";

/** Opens an inbox with a folder for acme, a clock that the test controls, and an import with given outcomes. */
export function anInbox(outcomeOf: (file: string) => Outcome = () => ({ kind: "done", rejected: 0 })) {
  const folder = aFolder();
  const clock = { nowMs: Date.now() };
  const taken: { file: string; settings: ImportSettings }[] = [];
  const said: string[] = [];
  const counted: Outcome["kind"][] = [];
  mkdirSync(join(folder, "acme"));
  const inbox = new Inbox(folder, {
    importOf(account, path) {
      if (!account.startsWith("acme") || account === "acmee") throw new UserError("no account has this name", "");
      const settings = settingsIn(path);
      return async (file, rejects) => {
        const name = file.slice(folder.length + 1);
        taken.push({ file: name, settings });
        const outcome = outcomeOf(name);
        writeFileSync(rejects, outcome.kind === "done" && outcome.rejected > 0 ? "rejected rows" : "");
        return outcome;
      };
    },
    source: "uploads",
    keepDays: 30,
    now: () => clock.nowMs,
    say: (line) => void said.push(line),
    count: (kind, files) => void counted.push(...Array<typeof kind>(files).fill(kind)),
  });
  return {
    taken,
    said,
    /** The outcome of each file, and "later" for each that is not imported. */
    counted,
    /** Moves a file that was written long ago into the inbox. */
    drop(name: string, text = "email\na@example.com\n"): void {
      writeFileSync(join(folder, name), text);
      utimesSync(join(folder, name), 0, 0);
    },
    /** Writes to a file at the time of the clock. */
    upload(name: string, text: string): void {
      appendFileSync(join(folder, name), text);
      utimesSync(join(folder, name), clock.nowMs / 1000, clock.nowMs / 1000);
    },
    path: (name: string) => join(folder, name),
    in: (name: string) => (existsSync(join(folder, name)) ? readdirSync(join(folder, name)).toSorted() : []),
    /** Looks at the folder after each of some pauses in seconds. Returns how many files wait in the end. */
    async lookAfter(...pauses: readonly number[]) {
      let waiting = 0;
      for (const seconds of pauses) {
        clock.nowMs += seconds * 1000;
        ({ waiting } = await inbox.look());
      }
      return waiting;
    },
  };
}

/** Fills the inbox of a program with files that were complete long ago, by their paths in it. Returns its folder. */
export function fillInbox(admin: Admin, files: Readonly<Record<string, string | Uint8Array>>): string {
  for (const [path, content] of Object.entries(files)) utimesSync(admin.put(join("inbox", path), content), 0, 0);
  return join(admin.folder, "inbox");
}
