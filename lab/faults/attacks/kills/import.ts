/** kill -9 of an import at random moments: what was in stays in, and the next run completes it. */
import { appendFileSync, copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Attack, Fault, Figures } from "../../fault.ts";
import { countOf, documentsOf, isWhole, look, makeAccount, prepare } from "../../product/contents.ts";
import { admin, startAdmin } from "../../product/program.ts";

const rows = 6000;
/** One after the other on the same file, before an import is let through. */
const killsInARow = 4;

export const killImport: Fault = {
  name: "kill -9 of an import",
  attack: "an import is killed at a random moment, up to 4 times in a row, then run to its end; kills",
  promise: "nothing served before is gone, no halves, the file is whole, the re-run gives the same bytes",
  small: 6,
  full: 1000,
  breakages: [
    {
      name: "an import that stumbles over what is in already",
      patches: [
        {
          file: "src/import/write/batch.ts",
          from: "  record.counts[outcome.kind",
          to: "  if (outcome.kind === 'duplicate') throw new Error('twice');\n  record.counts[outcome.kind",
        },
      ],
    },
  ],
  run,
};

async function run({ build, folder, times, random, goesOn, progress, expect }: Attack): Promise<Figures> {
  const base = join(folder, "base.db");
  const exported = join(folder, "export.csv");
  prepare(base, (store) => makeAccount(store, "acme"));
  writeFileSync(exported, exportOf(rows));
  const args = ["lead", "import", "acme", exported, "--pixel", "px", "--create-pixels", "--json"];

  const unbroken = join(folder, "unbroken.db");
  copyFileSync(base, unbroken);
  const begunMs = performance.now();
  const first = await admin(build, unbroken, args);
  const wholeMs = performance.now() - begunMs;
  const expected = look(unbroken, documentsOf);
  expect(first.status === 0 && expected.length === rows, () => `an unbroken import stored ${expected.length} leads`);

  let kills = 0;
  let cutShort = 0;
  for (let round = 0; kills < times && goesOn(); round++) {
    const file = join(folder, `broken-${round}.db`);
    copyFileSync(base, file);
    let before = new Set<string>();
    for (let turn = 0; turn < killsInARow && kills < times; turn++) {
      const child = startAdmin(build, file, args);
      // One kill in four falls anywhere; most of the time goes by before anything is written, so the others wait.
      if (random.below(4) === 0) await Bun.sleep(random.next() * wholeMs * 1.05);
      else await written(child, file, before.size + random.below(rows - before.size));
      child.kill("SIGKILL");
      const said = await child.stdout.text();
      await child.exited;
      kills++;
      const found = look(file, (database) => ({ whole: isWhole(database), documents: documentsOf(database) }));
      const now = new Set(found.documents);
      expect(found.whole, () => `after kill ${kills} the file is damaged`);
      expect(
        [...before].every((document) => now.has(document)),
        () => `after kill ${kills} leads are gone`,
      );
      expect(now.isSubsetOf(new Set(expected)), () => `after kill ${kills} there are leads that nobody sent`);
      expect(said === "" || now.size === rows, () => `kill ${kills}: reported ${said.trim()}, ${now.size} are there`);
      if (now.size > before.size && now.size < rows) cutShort++;
      before = now;
      progress(kills);
    }
    const again = await admin(build, file, args);
    const documents = look(file, documentsOf);
    expect(again.status === 0, () => `the re-run after kill ${kills} ended with ${again.status}: ${again.stderr}`);
    expect(documents.join("\n") === expected.join("\n"), () => `the re-run after kill ${kills} gave other bytes`);
  }
  return { "rows of the import": rows, "kills that left a part": cutShort };
}

/** Waits until more leads than this are in, or until the import is over. It asks for the lock, so that transactions end. */
async function written(child: ReturnType<typeof startAdmin>, file: string, enough: number): Promise<void> {
  while (child.exitCode === null && look(file, countOf) <= enough) {
    if (existsSync(`${file}.asking`)) appendFileSync(`${file}.asking`, ".");
    await Bun.sleep(1);
  }
}

/** Dates with thousands of leads, and times that collide with those to which the ties are moved. */
function exportOf(many: number): string {
  const times = ["2026-01-31", "2026-01-30", "2026-01-31 00:00:00.500", "2026-01-31T00:00:02Z"];
  const lines = Array.from(
    { length: many },
    (_, n) => `${times[(n * 7) % 4]},${n},d${n % 997}@example.com,City ${n % 50}`,
  );
  return `date,source,email,city\n${lines.join("\n")}\n`;
}
