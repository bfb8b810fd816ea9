/**
 * Appends new leads to a CSV file, for as long as it runs.
 *
 *   LEADFILE_KEY=lf_… bun examples/leads-to-csv.ts https://www.example.com leads.csv
 *
 * Every lead is in the file once, also after a crash. leads.csv.checkpoint keeps the length of the file after the last
 * complete leads; the next start truncates the file to it.
 */
import { open } from "node:fs/promises";
import { type Duration, type Lead, Leadfile } from "@leadfile/client";
import { fileCheckpoint } from "@leadfile/client/file";

const columns = ["id", "identified_at", "pixel_id", "name", "email", "phone", "company", "city", "state"] as const;
/** Visitors choose their names. A spreadsheet runs a cell that begins like a formula, unless a ' comes first. */
const guarded = (cell: string) => (/^[=+\-@\t\r＝＋－＠]/.test(cell) ? `'${cell}` : cell);
const row = (cells: readonly (string | null)[]) =>
  `${cells.map((cell) => `"${guarded(cell ?? "").replaceAll('"', '""')}"`).join(",")}\r\n`;
const rowOf = (lead: Lead) => row(columns.map((column) => lead[column]));

const [baseUrl = "http://127.0.0.1:3000", path = "leads.csv", every = "30s"] = process.argv.slice(2);
const key = process.env["LEADFILE_KEY"];
if (!key) {
  process.stderr.write("Set LEADFILE_KEY to an API key.\n");
  process.exit(2);
}
const leadfile = new Leadfile({ baseUrl, key });
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());

const file = await open(path, "a", 0o600);
const kept = fileCheckpoint(`${path}.checkpoint`);
const saved = await kept.load();
if (!saved) {
  if ((await file.stat()).size > 0) throw new Error(`${path} already exists, without a checkpoint. Name another file.`);
  await kept.save(JSON.stringify({ length: 0, checkpoint: null }));
}
const { length, checkpoint: begin } = JSON.parse(saved || '{"length":0,"checkpoint":null}');
await file.truncate(length);

const onError = ({ message }: Error) => void process.stderr.write(`${message} The next poll tries again.\n`);
// The client checks `every`, and says what it accepts.
const options = { every: every as Duration, checkpoint: begin, signal: stop.signal, onError };
for await (const { leads, checkpoint } of leadfile.leads.batches(options)) {
  if ((await file.stat()).size === 0) await file.appendFile(row(columns));
  await file.appendFile(leads.map(rowOf).join(""));
  await file.sync();
  await kept.save(JSON.stringify({ length: (await file.stat()).size, checkpoint }));
}
await file.close();
