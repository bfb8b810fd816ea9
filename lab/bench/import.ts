/** bun lab/bench/import.ts: the import and the size of the file, against `sqlite3 .import` of the same rows. */
import { existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { stringify } from "csv-stringify/sync";
import { cityKey, type Lead, leadFields } from "../../src/contract/lead.ts";
import { folderFor, makeAccount, removeDatabase, spawnImport } from "./data.ts";
import { leadAt, writeNdjson } from "./leads.ts";
import { note } from "./note.ts";
import { readCount } from "./options.ts";
import { median } from "./report.ts";

/** The columns that the indexes of Leadfile are on, and the 20 fields, as one plain table. */
const columns = ["account", "identified_ms", ...leadFields, "city_key", "has_email"];
const settings = "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL;";
const schema = `CREATE TABLE plain (account INTEGER, identified_ms INTEGER, ${leadFields.map((field) => `${field} TEXT`).join(", ")},
  city_key TEXT, has_email INTEGER);
CREATE UNIQUE INDEX by_time ON plain (account, identified_ms);
CREATE UNIQUE INDEX by_id ON plain (account, id);
${indexesOn([[], ["pixel_id"], ["state"], ["city_key"], ["pixel_id", "state"], ["pixel_id", "city_key"]])}
${indexesOn([
  ["state", "city_key"],
  ["pixel_id", "state", "city_key"],
])}`;

function indexesOn(filters: readonly (readonly string[])[]): string {
  const text = filters.map((chosen) => {
    const all = ["account", ...chosen, "has_email", "identified_ms"].join(", ");
    return `CREATE INDEX by_${["email", ...chosen].join("_")} ON plain (${all});`;
  });
  return text.join("\n");
}

type Phase = "empty" | "filled";
type Speeds = Record<`${"leadfile" | "sqlite3"} ${Phase}`, number[]>;

const { values } = parseArgs({
  options: { leads: { type: "string", default: "200000" }, rounds: { type: "string", default: "2" } },
});
const leads = readCount("--leads", values.leads);
const folder = folderFor("import");
const ours = join(folder, "leadfile.db");
const plain = join(folder, "plain.db");
const speeds: Speeds = { "leadfile empty": [], "leadfile filled": [], "sqlite3 empty": [], "sqlite3 filled": [] };

if (Bun.which("sqlite3") === null) throw new Error("sqlite3 is not installed");
await writeSources();
for (let round = 1; round <= readCount("--rounds", values.rounds); round++) {
  note(`Round ${round}.`);
  removeDatabase(ours);
  removeDatabase(plain);
  await makeAccount(ours);
  await runSqlite(schema);
  for (const phase of ["empty", "filled"] as const) {
    speeds[`leadfile ${phase}`].push(await speedOf(() => importOurs(phase)));
    speeds[`sqlite3 ${phase}`].push(await speedOf(() => runSqlite(`.import --csv ${source(phase, "csv")} plain`)));
  }
}
process.stdout.write(`${told()}\n`);
removeDatabase(ours);
removeDatabase(plain);
for (const phase of ["empty", "filled"] as const) {
  for (const form of ["csv", "ndjson"] as const) rmSync(source(phase, form), { force: true });
}

function source(phase: Phase, form: "csv" | "ndjson"): string {
  return join(folder, `${phase}.${form}`);
}

/** The first half goes into an empty file, the second into what that left. */
async function writeSources(): Promise<void> {
  for (const [phase, from] of [["empty", 0] as const, ["filled", leads] as const]) {
    if (existsSync(source(phase, "csv"))) rmSync(source(phase, "csv"));
    const lines = Bun.file(source(phase, "ndjson")).writer();
    for (const text of writeNdjson(from, from + leads, 2 * leads)) {
      lines.write(text);
      await lines.flush();
    }
    await lines.end();
    const rows = Bun.file(source(phase, "csv")).writer();
    for (let start = from; start < from + leads; start += 1000) {
      const length = Math.min(1000, from + leads - start);
      rows.write(stringify(Array.from({ length }, (_, step) => plainRow(leadAt(start + step, 2 * leads)))));
      await rows.flush();
    }
    await rows.end();
  }
}

function plainRow(lead: Lead): (string | number | null)[] {
  const derived = [lead.city === null ? null : cityKey(lead.city), lead.email === null ? 0 : 1];
  const row = [1, Date.parse(lead.identified_at), ...leadFields.map((field) => lead[field]), ...derived];
  if (row.length !== columns.length) throw new Error("a row does not fit the plain table");
  return row;
}

async function importOurs(phase: Phase): Promise<void> {
  const child = spawnImport(ours, source(phase, "ndjson"));
  await child.stdin.end();
  const [said, status] = await Promise.all([child.stderr.text(), child.exited]);
  if (status !== 0) throw new Error(said);
}

async function runSqlite(commands: string): Promise<void> {
  // The cache of an import of ours, and one transaction, which is the fastest that it knows.
  const all = `${settings} PRAGMA cache_size = -${48 * 1024};\nBEGIN;\n${commands}\nCOMMIT;`;
  const child = Bun.spawn(["sqlite3", "-bail", plain], { stdin: Buffer.from(all), stdout: "ignore" });
  if ((await child.exited) !== 0) throw new Error("sqlite3 failed");
}

async function speedOf(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return leads / ((performance.now() - startedMs) / 1000);
}

function told(): string {
  const line = (title: string, phase: Phase) => {
    const [our, their] = [median(speeds[`leadfile ${phase}`]), median(speeds[`sqlite3 ${phase}`])];
    const round = (speed: number) => Math.round(speed).toLocaleString("en-US").padStart(9);
    return `${title.padEnd(34)}${round(our)}${round(their)}${(our / their).toFixed(2).padStart(8)}`;
  };
  const bytes = statSync(ours).size / (2 * leads);
  // A line of the source ends with a newline, which is not of the document.
  const json = statSync(source("empty", "ndjson")).size / leads - 1;
  return [
    `${leads.toLocaleString("en-US")} leads a time, rows per second      Leadfile  sqlite3   ratio`,
    line("into an empty file", "empty"),
    line("into a file that has as many", "filled"),
    "",
    `Bytes a lead: ${bytes.toFixed(0)} in the file, ${json.toFixed(0)} of JSON, ratio ${(bytes / json).toFixed(2)};` +
      ` the plain table ${(statSync(plain).size / (2 * leads)).toFixed(0)}.`,
  ].join("\n");
}
