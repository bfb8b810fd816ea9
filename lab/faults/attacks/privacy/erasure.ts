/** Persons with a history are erased: no byte of what was ever held on them is left in any file. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Lead, leadFields } from "../../../../src/contract/lead.ts";
import { aLead, someLeads } from "../../../../test/support/builders.ts";
import type { Random } from "../../../random.ts";
import type { Attack, Fault, Figures } from "../../fault.ts";
import { documentsOf, look, makeAccount, prepare } from "../../product/contents.ts";
import { admin, type Ended, startServer } from "../../product/program.ts";

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

interface Scene {
  readonly build: string;
  /** The folder of the database and nothing else. */
  readonly home: string;
  /** The folder of exports. */
  readonly outside: string;
  readonly file: string;
  readonly random: Random;
  readonly expect: Attack["expect"];
}

async function run({ build, turns, expect }: Attack): Promise<Figures> {
  let bytes = 0;
  for (const { place, random } of turns()) {
    const [home, outside] = [join(place, "home"), join(place, "outside")];
    for (const folder of [home, outside]) mkdirSync(folder);
    bytes += await eraseOne({ build, home, outside, file: join(home, "leadfile.db"), random, expect });
  }
  return { "MB looked through": Math.round(bytes / 1e6) };
}

async function eraseOne(scene: Scene): Promise<number> {
  const { build, file, random, expect } = scene;
  const others = someLeads(20 + random.below(300));
  prepare(file, (store) => makeAccount(store, "acme", others));
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
  const left = leftOf(scene, marks);
  expect(left.found.length === 0, () => `${left.found.length} marks are left: ${left.found.slice(0, 3).join(", ")}`);

  const again = await importLeads(scene, visits);
  expect(/"suppressed":[1-9]/.test(again.stdout), () => `imported again: ${again.stdout}`);
  expect(leftOf(scene, marks).found.length === 0, () => "an import brought bytes of the person back");
  const kept = look(file, documentsOf);
  const unharmed = others.every(({ id }) => kept.some((document) => document.includes(id)));
  expect(unharmed, () => "another lead is gone");
  await server?.end();
  return left.bytes;
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

function leftOf({ home }: Scene, marks: readonly string[]): { found: string[]; bytes: number } {
  const found = new Set<string>();
  let bytes = 0;
  for (const name of readdirSync(home)) {
    const content = readFileSync(join(home, name));
    bytes += content.length;
    for (const mark of new Set(marks)) if (content.includes(mark)) found.add(`${mark} in ${name}`);
  }
  return { found: [...found], bytes };
}

async function importLeads(scene: Scene, leads: readonly Lead[], ...options: readonly string[]): Promise<Ended> {
  const path = join(scene.outside, `${crypto.randomUUID()}.ndjson`);
  writeFileSync(path, `${leads.map((lead) => JSON.stringify(lead)).join("\n")}\n`);
  const args = ["lead", "import", "acme", path, "--create-pixels", "--json", ...options];
  const ended = await admin(scene.build, scene.file, args);
  scene.expect(ended.status === 0, () => `an import ended with ${ended.status}: ${ended.stderr}`);
  return ended;
}
