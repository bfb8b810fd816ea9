/** bun run import: what an import costs, against `sqlite3 .import` of the same CSV, and whether its undo restores the file. */
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { leadFields } from "../../src/contract/lead.ts";
import { labCommand, readCount } from "../commands.ts";
import { note } from "../progress.ts";
import { median } from "../quantile.ts";
import { finished, folderFor, removeDatabase, spawnAdmin, spawnImport } from "./data.ts";
import { writeCsv } from "./leads.ts";
import { line } from "./report.ts";

/** The 20 fields as one plain table, with an index for each way to filter by pixel, state and city. */
const filters = [[], ["pixel_id"], ["state"], ["city"], ["pixel_id", "state"], ["pixel_id", "city"], ["state", "city"]];
const schema = `CREATE TABLE plain (${leadFields.map((field) => `${field} TEXT`).join(", ")});
CREATE UNIQUE INDEX by_id ON plain (id);
${[...filters, ["pixel_id", "state", "city"]].map(indexOn).join("\n")}`;

function indexOn(chosen: readonly string[]): string {
  return `CREATE INDEX ${["by_time", ...chosen].join("_")} ON plain (${[...chosen, "identified_at"].join(", ")});`;
}

interface Cost {
  readonly seconds: number;
  readonly processorSeconds: number;
  /** Bytes written to the disk for each byte that the file has grown by. NaN for an undo, after which it has hardly grown. */
  readonly written: number;
  readonly memoryMegabytes: number;
}

const { leads, rounds } = labCommand("bun run import", "Compares an import with that of sqlite3.")
  .option("--leads <n>", "leads of each import", readCount, 200_000)
  .option("--rounds <n>", "rounds in turn, of which the median counts", readCount, 2)
  .parse()
  .opts<{ readonly leads: number; readonly rounds: number }>();
if (Bun.which("sqlite3") === null) throw new Error("sqlite3 is not installed");
const folder = folderFor("import");
const [ours, plain] = [join(folder, "leadfile.db"), join(folder, "plain.db")];
/** The first half is imported into an empty file, the second into the result. */
const sources = [join(folder, "first.csv"), join(folder, "second.csv")] as const;
const costs = new Map<string, Cost[]>();

for (const [half, source] of sources.entries()) await writeCsv(source, half * leads, (half + 1) * leads, 2 * leads);
for (let round = 1; round <= rounds; round++) {
  note(`Round ${round}.`);
  removeDatabase(ours);
  removeDatabase(plain);
  await finished(spawnAdmin(ours, "account", "create", "bench"));
  await spawnSqlite(schema).exited;
  let exported = "";
  for (const [half, source] of sources.entries()) {
    const into = half === 0 ? "into an empty file" : "into a file that has as many";
    exported = half === 0 ? "" : await digestOfExport();
    await measure(`Leadfile, ${into}`, ours, () => spawnImport(ours, source));
    await measure(`sqlite3, ${into}`, plain, () => spawnSqlite(`.import --csv --skip 1 ${source} plain`));
  }
  await measure("Leadfile, undo of the second", ours, () => spawnAdmin(ours, "import", "undo", "bench", "2"));
  if ((await digestOfExport()) !== exported) throw new Error(`the undo did not restore the leads of ${ours}`);
}
process.stdout.write(report());
for (const source of sources) rmSync(source);

function spawnSqlite(commands: string): Bun.Subprocess {
  const settings = "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL;";
  // A cache that holds every index, and one transaction, which is the fastest that it knows.
  const all = `${settings} PRAGMA cache_size = -${256 * 1024};\nBEGIN;\n${commands}\nCOMMIT;`;
  return Bun.spawn(["sqlite3", "-bail", plain], { stdin: Buffer.from(all), stdout: "ignore" });
}

async function measure(what: string, file: string, start: () => Bun.Subprocess): Promise<void> {
  const [startedMs, bytesBefore] = [performance.now(), statSync(file).size];
  const child = start();
  if ((await child.exited) !== 0) throw new Error(`${what}: failed`);
  const used = child.resourceUsage();
  const grownBy = statSync(file).size - bytesBefore;
  const cost = {
    seconds: (performance.now() - startedMs) / 1000,
    processorSeconds: Number(used?.cpuTime.total ?? 0) / 1e6,
    // The system counts blocks of 512 bytes.
    written: grownBy < 1_000_000 ? Number.NaN : (Number(used?.ops.out ?? 0) * 512) / grownBy,
    memoryMegabytes: (used?.maxRSS ?? 0) / 1e6,
  };
  costs.set(what, [...(costs.get(what) ?? []), cost]);
}

async function digestOfExport(): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  for await (const bytes of spawnAdmin(ours, "lead", "export", "bench").stdout) hash.update(bytes);
  return hash.digest("hex");
}

function report(): string {
  const lines = [...costs].map(([what, all]) => {
    const of = (kind: keyof Cost) => median(all.map((cost) => cost[kind]));
    const perLead = (seconds: number) => ((seconds / leads) * 1e6).toFixed(1);
    const written = Number.isFinite(of("written")) ? of("written").toFixed(1) : "";
    const cells = [perLead(of("seconds")), perLead(of("processorSeconds")), written, of("memoryMegabytes").toFixed(0)];
    return line(what, ...cells);
  });
  const [bytes, bytesOfPlain] = [ours, plain].map((file) => (statSync(file).size / (2 * leads)).toFixed(0));
  return `${leads.toLocaleString("en-US")} leads in each import
${[line("", "us/lead", "CPU us/lead", "written x", "MB at most"), ...lines].join("\n")}
Bytes per lead: ${bytes} in the file, ${bytesOfPlain} in the plain table.
`;
}
