/** bun lab/bench/large-import.ts: what a large import costs, into an empty account and a full one, and that undo takes it back whole. */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { stringify } from "csv-stringify/sync";
import { leadFields } from "../../src/contract/lead.ts";
import { readCount, readFlags } from "../flags.ts";
import { folderFor, makeAccount, removeDatabase, spawnAdmin } from "./data.ts";
import { leadAt } from "./leads.ts";
import { note } from "./note.ts";

const usage = `bun run large-import [options]
  --leads N   leads of each of the two imports (default 1000000)
`;

const leads = readFlags({ command: "bun run large-import", usage }, (args) => {
  const { values } = parseArgs({ args, options: { leads: { type: "string", default: "1000000" } } });
  return readCount("--leads", values.leads);
});
const folder = folderFor("large-import");
const database = join(folder, "leadfile.db");

removeDatabase(database);
await makeAccount(database);
await measured("import into an empty account", ["lead", "import", "bench", await writeExport(0), "--create-pixels"]);
const before = await digestOfExport();
await measured("import into that account", ["lead", "import", "bench", await writeExport(1), "--create-pixels"]);
await measured("undo of the second", ["import", "undo", "bench", "2"]);
const isSame = (await digestOfExport()) === before;
process.stdout.write(
  `The export behind the undo is ${isSame ? "what it was before, byte for byte" : "ANOTHER ONE"}.\n`,
);
if (isSame) removeDatabase(database);
else process.exitCode = 1;

/** Writes an export, newest first as vendors do. The leads of the second lie between those of the first. */
async function writeExport(which: 0 | 1): Promise<string> {
  const path = join(folder, `${which}.csv`);
  const rows = Bun.file(path).writer();
  rows.write(stringify([[...leadFields]]));
  for (let end = leads; end > 0; end -= 1000) {
    const length = Math.min(1000, end);
    const some = Array.from({ length }, (_, step) => leadAt(2 * (end - 1 - step) + which, 2 * leads));
    rows.write(stringify(some.map((lead) => leadFields.map((field) => lead[field]))));
    await rows.flush();
  }
  await rows.end();
  return path;
}

/** Runs a command to its end and says what it took of the machine. */
async function measured(what: string, args: readonly string[]): Promise<void> {
  note(what);
  const bytesBefore = Bun.file(database).size;
  const begunMs = performance.now();
  const child = spawnAdmin(database, args);
  await child.stdin.end();
  const [status, said] = await Promise.all([child.exited, child.stderr.text(), child.stdout.text()]);
  if (status !== 0) throw new Error(said);
  const used = child.resourceUsage();
  const seconds = (performance.now() - begunMs) / 1000;
  const cpuSeconds = Number(used?.cpuTime.total ?? 0) / 1e6;
  // The system counts what is written in blocks of 512 bytes.
  const written = Number(used?.ops.out ?? 0) * 512;
  const added = Bun.file(database).size - bytesBefore;
  const figures = [
    `${seconds.toFixed(0)} s`,
    `${((cpuSeconds / leads) * 1e6).toFixed(1)} us of CPU a lead`,
    `${(written / 1e9).toFixed(2)} GB written${added > 0 ? `, ${(written / added).toFixed(1)} for each byte that was added` : ""}`,
    `${((used?.maxRSS ?? 0) / 1e6).toFixed(0)} MB of memory at most`,
  ];
  process.stdout.write(`${what}: ${figures.join("; ")}\n`);
}

async function digestOfExport(): Promise<string> {
  const child = spawnAdmin(database, ["lead", "export", "bench"]);
  await child.stdin.end();
  const hash = new Bun.CryptoHasher("sha256");
  for await (const bytes of child.stdout) hash.update(bytes);
  return hash.digest("hex");
}
