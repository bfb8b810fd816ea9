/** bun lab/bench/import.ts: the import and the size of the file, against `sqlite3 .import` of the same CSV. */
import { existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { stringify } from "csv-stringify/sync";
import { leadFields } from "../../src/contract/lead.ts";
import { readCount, readFlags } from "../flags.ts";
import { folderFor, makeAccount, removeDatabase, spawnImport } from "./data.ts";
import { leadAt } from "./leads.ts";
import { note } from "./note.ts";
import { median } from "./report.ts";

/** The 20 fields as one plain table, with an index for each way to filter by pixel, state and city. */
const settings = "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL;";
const filters = [[], ["pixel_id"], ["state"], ["city"], ["pixel_id", "state"], ["pixel_id", "city"], ["state", "city"]];
const schema = `CREATE TABLE plain (${leadFields.map((field) => `${field} TEXT`).join(", ")});
CREATE UNIQUE INDEX by_id ON plain (id);
${[...filters, ["pixel_id", "state", "city"]].map(indexOn).join("\n")}`;

function indexOn(chosen: readonly string[]): string {
  return `CREATE INDEX ${["by_time", ...chosen].join("_")} ON plain (${[...chosen, "identified_at"].join(", ")});`;
}

type Phase = "empty" | "filled";
/** Microseconds a row: of the clock, and of processors. */
interface Cost {
  readonly clock: number;
  readonly processor: number;
}
type Costs = Record<`${"leadfile" | "sqlite3"} ${Phase}`, Cost[]>;

const usage = `bun run import [options]
  --leads N    leads of each import (default 200000)
  --rounds N   rounds in turn, of which the median counts (default 2)
`;

const { leads, rounds } = readFlags({ command: "bun run import", usage }, (args) => {
  const options = { leads: { type: "string", default: "200000" }, rounds: { type: "string", default: "2" } } as const;
  const { values } = parseArgs({ args, options });
  return { leads: readCount("--leads", values.leads), rounds: readCount("--rounds", values.rounds) };
});
const folder = folderFor("import");
const ours = join(folder, "leadfile.db");
const plain = join(folder, "plain.db");
const costs: Costs = { "leadfile empty": [], "leadfile filled": [], "sqlite3 empty": [], "sqlite3 filled": [] };

if (Bun.which("sqlite3") === null) throw new Error("sqlite3 is not installed");
await writeSources();
for (let round = 1; round <= rounds; round++) {
  note(`Round ${round}.`);
  removeDatabase(ours);
  removeDatabase(plain);
  await makeAccount(ours);
  await runSqlite(schema);
  for (const phase of ["empty", "filled"] as const) {
    costs[`leadfile ${phase}`].push(await costOf(() => importOurs(phase)));
    costs[`sqlite3 ${phase}`].push(await costOf(() => runSqlite(`.import --csv --skip 1 ${source(phase)} plain`)));
  }
}
process.stdout.write(`${told()}\n`);
removeDatabase(ours);
removeDatabase(plain);
for (const phase of ["empty", "filled"] as const) {
  rmSync(source(phase), { force: true });
}

function source(phase: Phase): string {
  return join(folder, `${phase}.csv`);
}

/** The first half goes into an empty file, the second into what that left. */
async function writeSources(): Promise<void> {
  for (const [phase, from] of [["empty", 0] as const, ["filled", leads] as const]) {
    if (existsSync(source(phase))) rmSync(source(phase));
    const rows = Bun.file(source(phase)).writer();
    rows.write(stringify([leadFields]));
    for (let start = from; start < from + leads; start += 1000) {
      const length = Math.min(1000, from + leads - start);
      const some = Array.from({ length }, (_, step) => leadAt(start + step, 2 * leads));
      rows.write(stringify(some.map((lead) => leadFields.map((field) => lead[field]))));
      await rows.flush();
    }
    await rows.end();
  }
}

async function importOurs(phase: Phase): Promise<Bun.Subprocess> {
  const child = spawnImport(ours, source(phase));
  await child.stdin.end();
  const [said, status] = await Promise.all([child.stderr.text(), child.exited]);
  if (status !== 0) throw new Error(said);
  return child;
}

async function runSqlite(commands: string): Promise<Bun.Subprocess> {
  // A cache that holds every index, and one transaction, which is the fastest that it knows.
  const all = `${settings} PRAGMA cache_size = -${256 * 1024};\nBEGIN;\n${commands}\nCOMMIT;`;
  const child = Bun.spawn(["sqlite3", "-bail", plain], { stdin: Buffer.from(all), stdout: "ignore" });
  if ((await child.exited) !== 0) throw new Error("sqlite3 failed");
  return child;
}

async function costOf(work: () => Promise<Bun.Subprocess>): Promise<Cost> {
  const startedMs = performance.now();
  const child = await work();
  const clock = (performance.now() - startedMs) * 1000;
  return { clock: clock / leads, processor: Number(child.resourceUsage()?.cpuTime.total ?? 0) / leads };
}

function told(): string {
  const line = (title: string, phase: Phase, kind: keyof Cost) => {
    const of = (program: "leadfile" | "sqlite3") => median(costs[`${program} ${phase}`].map((cost) => cost[kind]));
    const [our, their] = [of("leadfile"), of("sqlite3")];
    const round = (cost: number) => cost.toFixed(1).padStart(9);
    return `${title.padEnd(46)}${round(our)}${round(their)}${(their / our).toFixed(2).padStart(8)}`;
  };
  const bytes = statSync(ours).size / (2 * leads);
  const title = `${leads.toLocaleString("en-US")} leads a time, microseconds a row`;
  return [
    `${title.padEnd(46)} Leadfile  sqlite3   ratio`,
    line("into an empty file, of processors", "empty", "processor"),
    line("into an empty file, by the clock", "empty", "clock"),
    line("into a file that has as many, of processors", "filled", "processor"),
    line("into a file that has as many, by the clock", "filled", "clock"),
    "",
    `Bytes a lead: ${bytes.toFixed(0)} in the file, ${(statSync(plain).size / (2 * leads)).toFixed(0)} in the plain table.`,
  ].join("\n");
}
