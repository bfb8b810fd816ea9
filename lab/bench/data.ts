/** The files that the servers read, made once for each number of leads and kept in data/bench. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { finish } from "../../test/support/process.ts";
import { project } from "../faults/breaking/build.ts";
import { note } from "../progress.ts";
import { writeCsv } from "./leads.ts";
import { makeRelational } from "./relational.ts";

/** Files of another version are made anew. */
const dataVersion = 6;

export interface BenchData {
  readonly folder: string;
  readonly leads: number;
  readonly leadfile: string;
  /** The same leads in a plain relational schema. */
  readonly relational: string;
  readonly key: string;
  readonly revokedKey: string;
}

/** The data for so many leads of one account, for both servers. Makes what is missing. */
export async function prepareData(leads: number): Promise<BenchData> {
  const folder = folderFor(String(leads));
  const [leadfile, relational] = [join(folder, "leadfile.db"), join(folder, "relational.db")];
  const ready = join(folder, `ready-${dataVersion}.json`);
  if (!existsSync(ready)) {
    removeDatabase(leadfile);
    removeDatabase(relational);
    const keys = await makeLeadfile(leadfile, leads);
    makeRelational(relational, leadfile);
    writeFileSync(ready, JSON.stringify(keys));
  }
  return { folder, leads, leadfile, relational, ...(JSON.parse(readFileSync(ready, "utf8")) as Keys) }; // Written above.
}

type Keys = Pick<BenchData, "key" | "revokedKey">;

/** A folder under data/bench, which git does not keep. */
export function folderFor(name: string): string {
  const folder = join(project, "data/bench", name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Removes a database and its other SQLite files. */
export function removeDatabase(path: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
}

async function makeLeadfile(path: string, leads: number): Promise<Keys> {
  note(`Importing ${leads.toLocaleString("en-US")} leads into Leadfile.`);
  const source = `${path}.csv`;
  await writeCsv(source, 0, leads, leads);
  await finished(spawnAdmin(path, "account", "create", "bench"));
  const { imported } = await finished(spawnImport(path, source));
  if (imported !== leads) throw new Error(`of ${leads} leads ${imported} were imported`);
  rmSync(source);
  const { key } = await finished(spawnAdmin(path, "key", "create", "bench"));
  const revoked = await finished(spawnAdmin(path, "key", "create", "bench"));
  await finished(spawnAdmin(path, "key", "revoke", revoked.id));
  return { key, revokedKey: revoked.key };
}

export function spawnImport(path: string, source: string) {
  return spawnAdmin(path, "lead", "import", "bench", source, "--create-pixels");
}

/** Starts an admin command on a file. */
export function spawnAdmin(path: string, ...args: readonly string[]) {
  return Bun.spawn([process.execPath, join(project, "src/admin.ts"), ...args, "--json"], {
    env: { ...process.env, DATABASE_PATH: path },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** The fields of --json that are used here. */
interface Printed {
  readonly id: string;
  readonly key: string;
  readonly imported: number;
}

/** Waits for an admin command. Throws what it says when it fails. */
export async function finished(child: ReturnType<typeof spawnAdmin>): Promise<Printed> {
  const { status, stdout, stderr } = await finish(child);
  if (status !== 0) throw new Error(`bun admin ended with ${status}: ${stderr}`);
  return JSON.parse(stdout) as Printed; // The shape of --json is promised.
}
