/** Persons with a history are erased: no byte of what was ever held on them is left in any file. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Lead, leadFields } from "../../../../src/contract/lead.ts";
import { aLead, linesOf, someLeads } from "../../../../test/support/builders.ts";
import { anAccount } from "../../../../test/support/database.ts";
import { filesWith } from "../../../../test/support/folder.ts";
import type { Random } from "../../../random.ts";
import type { Attack, Fault, Figures } from "../../fault.ts";
import { documentsOf, look, prepare } from "../../product/contents.ts";
import { admin, startServer } from "../../product/program.ts";

export const erasure: Fault = {
  name: "erasure",
  attack: "imports, replacements and requests make a history, then a person is erased and imported again; files",
  promise: "no byte of the person in any file of the folder, the others unharmed, a later import leaves the person out",
  small: 2,
  full: 1000,
  breakages: [
    {
      name: "an erasure that leaves free pages as they are",
      times: 1,
      patches: [
        { file: "src/db/open.ts", from: "PRAGMA secure_delete = ON", to: "PRAGMA secure_delete = OFF" },
        {
          file: "src/db/vacuum.ts",
          from: 'database.$client.run("VACUUM")',
          to: 'database.$client.run("SELECT 1")',
        },
      ],
    },
  ],
  run,
};

async function run({ build, turns, expect }: Attack): Promise<Figures> {
  let visits = 0;
  for (const { place, random } of turns()) {
    const home = join(place, "home");
    mkdirSync(home);
    visits += await eraseOne({ build, folder: home, file: join(home, "leadfile.db"), random, expect });
  }
  return { "erased visits": visits };
}

/** The folder has the database and nothing else. */
type Scene = Pick<Attack, "build" | "folder" | "file" | "random" | "expect">;

/** Returns the number of erased visits. */
async function eraseOne(scene: Scene): Promise<number> {
  const { build, folder, file, random, expect } = scene;
  const others = someLeads(20 + random.below(300));
  prepare(file, (store) => anAccount(store, { name: "acme", leads: others }));
  const email = `erased${random.below(1e9)}@person.example`;
  const server = random.below(2) === 0 ? await startServer(build, file) : null;
  const visits = Array.from({ length: 1 + random.below(4) }, () => aVisitOf(email, random));
  const replaced = visits.map((lead) => ({ ...aVisitOf(email, random), id: lead.id }));
  await importLeads(scene, visits);
  if (random.below(2) === 0) await importLeads(scene, someLeads(random.below(200)));
  const isReplaced = random.below(3) > 0;
  if (isReplaced) await importLeads(scene, replaced, "--on-duplicate", "replace");
  const held = look(file, documentsOf).filter((document) => document.includes(email)).length;
  expect(held === visits.length, () => `${held} of ${visits.length} visits were held`);

  const { status, stdout, stderr } = await admin(build, file, ["lead", "erase", "acme", "--email", email, "--json"]);
  expect(status === 0, () => `erasing ended with ${status}: ${stderr}`);
  const erased: unknown = JSON.parse(stdout || "{}").erased;
  expect(erased === visits.length, () => `${erased} of ${visits.length} visits were erased`);
  const marks = [...visits, ...replaced].flatMap(marksOf);
  const left = filesWith(folder, ...marks);
  expect(left.length === 0, () => `bytes of the person are left in ${left}`);

  const again = await importLeads(scene, visits);
  expect(/"suppressed":[1-9]/.test(again), () => `imported again: ${again}`);
  expect(filesWith(folder, ...marks).length === 0, () => "an import brought bytes of the person back");
  const kept = look(file, documentsOf);
  const unharmed = others.every(({ id }) => kept.some((document) => document.includes(id)));
  expect(unharmed, () => "another lead is gone");
  await server?.end();
  return visits.length;
}

/** A visit whose every field holds a mark of its own. */
function aVisitOf(email: string, random: Random): Lead {
  const mark = () => `mark${random.below(2 ** 31)}x${random.below(2 ** 31)}`;
  return {
    ...aLead(),
    email,
    name: mark(),
    company: mark(),
    city: mark(),
    phone: String(1e10 + random.below(2 ** 31)),
    page_url: `https://example.com/${mark().repeat(1 + random.below(200))}`,
    referrer: mark(),
    traffic_source: mark(),
  };
}

function marksOf(lead: Lead): string[] {
  const texts = leadFields.map((field) => lead[field] ?? "");
  return texts.flatMap((text) => text.match(/mark\d+x\d+|erased\d+@|1\d{10}$/g) ?? []);
}

/** Imports leads from standard input. Returns the counts. */
async function importLeads({ build, file, expect }: Scene, leads: readonly Lead[], ...options: readonly string[]) {
  const args = ["lead", "import", "acme", "-", "--create-pixels", "--json", ...options];
  const { status, stdout, stderr } = await admin(build, file, args, { input: linesOf(leads) });
  expect(status === 0, () => `an import ended with ${status}: ${stderr}`);
  return stdout;
}
