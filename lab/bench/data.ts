/** The files that the servers read, made once for each number of leads and kept in data/bench. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeNdjson } from "./leads.ts";
import { note } from "./note.ts";
import { makePeerFile } from "./peer-data.ts";

const root = join(import.meta.dir, "../..");
const folderOfAll = join(root, "data/bench");
/** Files of another version are made anew. */
export const dataVersion = 3;

export interface LeadfileData {
  readonly folder: string;
  readonly leads: number;
  readonly leadfile: string;
  readonly key: string;
  readonly revokedKey: string;
}

export interface BenchData extends LeadfileData {
  /** The relational file that the peers read. */
  readonly peers: string;
}

/** The data for so many leads of one account, for Leadfile and its peers; makes what is not there yet. */
export async function prepareData(leads: number): Promise<BenchData> {
  const data = await prepareLeadfile(leads);
  const peers = join(data.folder, "peers.db");
  const ready = join(data.folder, `peers-ready-${dataVersion}`);
  if (!existsSync(ready)) {
    removeDatabase(peers);
    makePeerFile(peers, leads, data);
    writeFileSync(ready, "");
  }
  return { ...data, peers };
}

/** The same for Leadfile alone. */
export async function prepareLeadfile(leads: number): Promise<LeadfileData> {
  const folder = folderFor(String(leads));
  const leadfile = join(folder, "leadfile.db");
  const ready = join(folder, `ready-${dataVersion}.json`);
  if (!existsSync(ready)) {
    removeDatabase(leadfile);
    writeFileSync(ready, JSON.stringify(await makeLeadfile(leadfile, leads)));
  }
  return { folder, leads, leadfile, ...(JSON.parse(readFileSync(ready, "utf8")) as Keys) }; // Written above.
}

interface Keys {
  readonly key: string;
  readonly revokedKey: string;
}

/** A folder under data/bench, which git does not keep. */
export function folderFor(name: string): string {
  const folder = join(folderOfAll, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Removes a database and its other SQLite files. */
export function removeDatabase(path: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
}

async function makeLeadfile(path: string, leads: number): Promise<Keys> {
  await makeAccount(path);
  note(`Importing ${leads.toLocaleString("en-US")} leads into Leadfile.`);
  await importLeads(path, 0, leads, leads);
  const { key } = await admin(path, ["key", "create", "bench"]);
  const revoked = await admin(path, ["key", "create", "bench"]);
  await admin(path, ["key", "revoke", revoked.id]);
  return { key, revokedKey: revoked.key };
}

/** The account `bench`, in a file that is made if need be. */
export async function makeAccount(path: string): Promise<void> {
  await admin(path, ["account", "create", "bench"]);
}

/** The fields of --json that are used here. */
interface Printed {
  readonly id: string;
  readonly key: string;
  readonly imported: number;
}

/** Imports positions of the year into the account `bench` as a user would: with the admin command, through a pipe. */
export async function importLeads(path: string, from: number, to: number, count: number): Promise<void> {
  const child = spawnImport(path);
  for (const text of writeNdjson(from, to, count)) {
    child.stdin.write(text);
    await child.stdin.flush();
  }
  await child.stdin.end();
  const { imported } = await printed(child);
  if (imported !== to - from) throw new Error(`of ${to - from} leads ${imported} were imported`);
}

/** An import of a file; of `-`, it waits for NDJSON on its standard input. */
export function spawnImport(path: string, file = "-") {
  return spawnAdmin(path, ["lead", "import", "bench", file, "--create-pixels"]);
}

async function admin(path: string, args: readonly string[]): Promise<Printed> {
  const child = spawnAdmin(path, args);
  await child.stdin.end();
  return printed(child);
}

/** One admin command on a file; it may read from its standard input. */
export function spawnAdmin(path: string, args: readonly string[]) {
  return Bun.spawn([process.execPath, join(root, "src/admin.ts"), ...args, "--json"], {
    env: { ...process.env, DATABASE_PATH: path },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function printed(child: ReturnType<typeof spawnAdmin>): Promise<Printed> {
  const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (status !== 0) throw new Error(`bun admin ended with ${status}: ${stderr}`);
  return JSON.parse(stdout) as Printed; // The shape of --json is promised.
}
