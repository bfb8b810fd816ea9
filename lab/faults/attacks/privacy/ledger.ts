/** Random histories of a server: the ledger knows every lead that each key was sent, and no other. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";

export const ledger: Fault = {
  name: "the ledger of recipients",
  attack:
    "histories of 48 acts against a log of every response: pages, imports, undos, erasures, retention, kills, restores here and elsewhere, moved clocks, and times without a ledger",
  promise: "each recipient and each day exact, and a gap names each time without a record",
  small: 100,
  full: 20_000,
  breakages: [
    broken(
      "the number of a lead is used again after an undo",
      "src/import/write/stored-leads.ts",
      "SELECT 1 + max(last,",
      "SELECT 1 + max(0,",
    ),
    broken("an undo forgets the recipients", "src/import/write/undo.ts", "    rememberNumbers(some),\n", "", {
      isSlow: true,
    }),
    broken("a restore skips no numbers", "src/backup/restore.ts", "  skipNumbers(database);\n", ""),
    broken(
      "the last lead of a page is not noted",
      "src/db/leads.ts",
      "numbers: rows.map(([, , number]) => number),",
      "numbers: rows.slice(0, -1).map(([, , number]) => number),",
    ),
    broken(
      "pages that were not written yet are forgotten at a stop",
      "src/server/store.ts",
      "do written = writeWhenFree($client, flush);",
      'do written = "idle";',
    ),
  ],
  run,
};

const actsEach = 40;
/** Each history has leads to send, and gives numbers after a restore. */
const first = ["import", "backup"] as const;
const last = ["import", "page", "page", "restore", "import", "page"] as const;

async function run({ build, folder, times, random, goesOn, progress, expect }: Attack): Promise<Figures> {
  // The build that is attacked has a history of its own.
  const { History, kinds }: typeof import("../../../../test/privacy/sent/history.ts") = await import(
    join(build, "test/privacy/sent/history.ts")
  );
  const total = { pages: 0, sent: 0, unrecorded: 0, compared: 0 };
  for (let round = 0; total.pages < times && goesOn(); round++) {
    const place = join(folder, `history-${round}`);
    mkdirSync(place);
    const draw = random.branch(round);
    const history = new History(place);
    const between = Array.from({ length: actsEach }, () => draw.pick(kinds));
    for (const kind of [...first, ...between, ...last])
      await history.act({ kind, x: draw.below(10_000), y: draw.below(1e9) });
    await history.compare();
    await history.close();
    rmSync(place, { recursive: true });
    expect(history.differences.length === 0, () => `${history.differences.slice(0, 3).join("; ")} in history ${round}`);
    for (const name of ["pages", "sent", "unrecorded", "compared"] as const) total[name] += history.counts[name];
    progress(total.pages);
  }
  return { "leads sent": total.sent, "sent in a gap": total.unrecorded, "leads compared": total.compared };
}
