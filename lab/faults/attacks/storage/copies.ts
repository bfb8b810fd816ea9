/** Backups while an import runs, restored; and copies that are damaged or not ours, which are refused. */
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { openAdminStore } from "../../../../test/support/admin-store.ts";
import { someLeads } from "../../../../test/support/builders.ts";
import type { Random } from "../../../random.ts";
import type { Attack, Fault, Figures } from "../../fault.ts";
import { countOf, documentsOf, isWhole, look, makeAccount, prepare } from "../../product/contents.ts";
import { admin, startAdmin } from "../../product/program.ts";

const rows = 10_000;
/** Leads that are written right before the backup. */
const late = 5;
const askEveryMs = 30;

export const copies: Fault = {
  name: "backup and restore",
  attack:
    "a backup at a random moment of an import is restored; then damaged in one of four ways, and restored; cycles",
  promise: "what is restored is what was backed up; what is damaged is refused, and the database there is untouched",
  small: 4,
  full: 1000,
  breakages: [
    {
      name: "a backup of the file without its log",
      isSlow: true,
      times: 4,
      patches: [
        {
          file: "src/backup/backup.ts",
          from: "    const manifest = describe(draft, nowMs);\n",
          to: '    require("node:fs").copyFileSync(path, draft);\n    const manifest = describe(draft, nowMs);\n',
        },
      ],
    },
  ],
  run,
};

interface Scene {
  readonly build: string;
  readonly place: string;
  readonly random: Random;
  readonly expect: Attack["expect"];
}

async function run({ build, folder, turns, expect }: Attack): Promise<Figures> {
  const there = join(folder, "there.db");
  prepare(there, (store) => makeAccount(store, "other", someLeads(20)));
  let amid = 0;
  for (const { number, place, random } of turns()) {
    const scene = { build, place, random, expect };
    const copied = await backUp(scene);
    if (copied === null) continue;
    if (copied > 50 && copied < rows + 50) amid++;
    await restoreWhole(scene);
    await restoreDamaged(scene, there, damages[number % damages.length] ?? damages[0]);
  }
  return { "amid the import": amid, "rows of an import": rows };
}

const copyIn = (place: string) => join(place, "copy.db");

/** Backs up while an import runs; how many leads the copy has, null where there is none. */
async function backUp({ build, place, random, expect }: Scene): Promise<number | null> {
  const file = join(place, "leadfile.db");
  const exported = join(place, "export.csv");
  prepare(file, (store) => makeAccount(store, "acme", someLeads(50)));
  writeFileSync(exported, exportOf(rows));
  const importing = startAdmin(build, file, ["lead", "import", "acme", exported, "--pixel", "px", "--create-pixels"]);
  // Somebody who asks for the lock now and then keeps the transactions of the import short.
  const asking = setInterval(() => existsSync(`${file}.asking`) && appendFileSync(`${file}.asking`, "."), askEveryMs);
  const enough = random.below(rows / 2);
  let before = 0;
  while (importing.exitCode === null && before <= enough) {
    await Bun.sleep(2);
    before = look(file, countOf);
  }
  // As with a server that runs: what was written last lies in the log, and nobody folds it into the file.
  const server = openAdminStore(file);
  // A write behind a long log folds all of it into the file, so that one goes before.
  makeAccount(server, "early", []);
  makeAccount(server, "late", someLeads(late));
  const made = await admin(build, file, ["backup", copyIn(place), "--json"]);
  clearInterval(asking);
  server.close();
  expect((await importing.exited) === 0, () => "the import failed beside a backup");
  expect(made.status === 0, () => `the backup ended with ${made.status}: ${made.stderr}`);
  if (made.status !== 0) return null;
  const copied = look(copyIn(place), documentsOf).length;
  const least = before + late;
  expect(copied >= least, () => `${least} leads were in before the backup began, which has ${copied}`);
  expect(JSON.parse(made.stdout).leads === copied, () => `of ${copied} leads the backup said ${made.stdout}`);
  return copied;
}

async function restoreWhole({ build, place, expect }: Scene): Promise<void> {
  const restored = join(place, "restored.db");
  const { status, stderr } = await admin(build, restored, ["restore", copyIn(place), "--json"]);
  expect(status === 0, () => `the restore ended with ${status}: ${stderr}`);
  const same = status === 0 && contentOf(restored) === contentOf(copyIn(place));
  expect(same, () => "what was restored is not what was backed up");
}

async function restoreDamaged(
  { build, place, random, expect }: Scene,
  there: string,
  [name, damage]: Damage,
): Promise<void> {
  const untouched = contentOf(there);
  damage(copyIn(place), random, there);
  const { status } = await admin(build, there, ["restore", copyIn(place)]);
  expect(status === 1, () => `${name}: the restore ended with ${status}`);
  expect(contentOf(there) === untouched, () => `${name}: the database that was there has changed`);
}

function contentOf(file: string): string {
  return look(file, (database) => (isWhole(database) ? documentsOf(database).join("\n") : "damaged"));
}

type Damage = readonly [name: string, damage: (copy: string, random: Random, other: string) => void];

const damages: readonly [Damage, ...Damage[]] = [
  ["a flipped bit", flipBit],
  ["a copy cut short", (copy, random) => truncateSync(copy, random.below(statSync(copy).size))],
  ["another Leadfile's database", (copy, _, other) => copyFileSync(other, copy)],
  ["no manifest", (copy) => rmSync(`${copy}.manifest.json`)],
];

function flipBit(copy: string, random: Random): void {
  const bytes = readFileSync(copy);
  const at = random.below(bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
  writeFileSync(copy, bytes);
}

function exportOf(many: number): string {
  const lines = Array.from({ length: many }, (_, n) => `2026-01-31,d${n}@example.com,City ${n % 50}`);
  return `date,email,city\n${lines.join("\n")}\n`;
}
