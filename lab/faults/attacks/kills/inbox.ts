/** kill -9 of the inbox while files are copied into its folder: each row is a lead once, and no file is taken in half. */
import { closeSync, mkdirSync, openSync, readdirSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../../../random.ts";
import type { Attack, Fault, Figures } from "../../fault.ts";
import { documentsOf, look, makeAccount, prepare } from "../../product/contents.ts";
import { startAdmin } from "../../product/program.ts";

const pieces = 12;
const rowsPerPiece = 50;
const copiesAtOnce = 12;
/** No file was moved for so long: what is there stays. */
const standstillMs = 20_000;

export const killInbox: Fault = {
  name: "kill -9 of the inbox",
  attack:
    "files are copied into a folder piece by piece, 12 at a time, and the inbox is killed every two seconds or so; files",
  promise: "every row is a lead, each once, and every file lies in done/",
  small: 12,
  full: 600,
  breakages: [
    {
      name: "a file that is taken while it is copied",
      patches: [
        {
          file: "extensions/delivery/inbox/drop-folder.ts",
          from: "({ sinceMs }) => nowMs - sinceMs >= this.#settleMs",
          to: "() => true",
        },
        // A copy that goes on while its file is imported would be noticed, and the file taken again.
        {
          file: "extensions/delivery/inbox/drop-folder.ts",
          from: "versionOf(entryAt(path)) === version ? imported : changedDuringImport",
          to: "imported",
        },
      ],
    },
  ],
  waits: true,
  run,
};

async function run({ build, folder, times, random, goesOn, progress, expect, file }: Attack): Promise<Figures> {
  const inbox = join(folder, "inbox/acme");
  mkdirSync(inbox, { recursive: true });
  prepare(file, (store) => store.pixels.create(makeAccount(store, "acme").number, { id: "px", status: "active" }, 0));
  const start = () => startAdmin(build, file, ["inbox", join(folder, "inbox")]);
  let watching = start();
  let dropped = 0;
  let kills = 0;
  const copying = Array.from({ length: copiesAtOnce }, async () => {
    while (dropped < times && goesOn()) {
      await copyInto(inbox, dropped++, random);
      progress(dropped);
    }
  });
  let isCopied = false;
  const copied = Promise.all(copying).then(() => {
    isCopied = true;
  });
  while (!isCopied || filesIn(inbox, "done") < dropped / 2) {
    // Once all files lie there, each kill lets one of them through: on a busy machine none would come to its end else.
    if (isCopied) await untilDone(inbox, filesIn(inbox, "done") + 1);
    await Bun.sleep(isCopied ? random.below(1000) : 500 + random.below(4000));
    watching.kill("SIGKILL");
    await watching.exited;
    kills++;
    watching = start();
  }
  await copied;
  await untilDone(inbox, dropped);
  watching.kill("SIGTERM");
  await watching.exited;
  const emails = look(file, documentsOf).map((document) => String(JSON.parse(document).email));
  const rows = dropped * pieces * rowsPerPiece;
  expect(new Set(emails).size === rows, () => `${rows - new Set(emails).size} of ${rows} rows are lost`);
  expect(new Set(emails).size === emails.length, () => "a row is there twice");
  expect(filesIn(inbox, "done") === dropped, () => `${filesIn(inbox, "done")} of ${dropped} files lie in done/`);
  return { kills, leads: emails.length };
}

/** Writes a file as a slow copy does. */
async function copyInto(folder: string, number: number, random: Random): Promise<void> {
  const file = openSync(join(folder, `${number}.csv`), "w");
  writeSync(file, "email,identified_at,pixel_id\n");
  for (let piece = 0; piece < pieces; piece++) {
    const lines = Array.from({ length: rowsPerPiece }, (_, row) => {
      const count = piece * rowsPerPiece + row;
      return `v${number}-${count}@example.com,${new Date(1_760_000_000_000 + count * 1000).toISOString()},px\n`;
    });
    writeSync(file, lines.join(""));
    await Bun.sleep(random.below(600));
  }
  closeSync(file);
}

/** Waits until so many files lie in done/, or nothing moves any more. */
async function untilDone(folder: string, files: number): Promise<void> {
  let done = -1;
  for (let movedMs = performance.now(); performance.now() < movedMs + standstillMs; await Bun.sleep(100)) {
    const now = filesIn(folder, "done");
    if (now >= files) return;
    if (now !== done) movedMs = performance.now();
    done = now;
  }
}

function filesIn(folder: string, name: string): number {
  try {
    return readdirSync(join(folder, name)).length;
  } catch {
    return 0;
  }
}
