/** An instance for the doctor to examine, and a run of the doctor that must change nothing. */
import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Admin, anAdmin } from "./admin.ts";
import { aFreePort } from "./free-port.ts";

interface Finding {
  readonly level: "warning" | "broken";
  readonly what: string;
  readonly advice: string;
}

/** Runs the doctor, and checks that it has changed nothing. */
export async function examine(admin: Admin, ...options: readonly string[]) {
  // A closed connection of this process keeps the file open until it is collected.
  Bun.gc(true);
  const before = contentsOf(admin.folder);
  const ended = await admin.run("doctor", "--json", ...options);
  expect(contentsOf(admin.folder)).toEqual(before);
  expect(ended.stderr).toBe("");
  const { findings } = JSON.parse(ended.stdout) as { findings: Finding[] }; // As documented.
  for (const { what, advice } of findings) {
    expect(what).toMatch(/\.$/);
    expect(advice.length).toBeGreaterThan(5);
  }
  return { status: ended.status, findings, said: findings.map(({ what }) => what).join("\n") };
}

/** Digests of the database files in a folder. Readers write to the index of a log. */
function contentsOf(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.includes(".db") && !name.endsWith(".spool"));
  return names.toSorted().map((name) => {
    const bytes = name.endsWith("-shm") ? "" : readFileSync(join(folder, name));
    return `${name} ${new Bun.CryptoHasher("sha256").update(bytes).digest("hex")}`;
  });
}

/** A file with a lead, a key, and a backup, made by commands, because this process would keep it open. */
let made: Buffer | null = null;

async function aFile(): Promise<Buffer> {
  const admin = anAdmin([]);
  await admin.run("account", "create", "acme");
  await admin.run("key", "create", "acme", "--label", "CRM");
  await admin.import("email,state,identified_at,pixel_id\nv@example.com,CA,2026-01-01T00:00:00Z,px\n");
  await admin.run("backup", join(admin.folder, "copy.db"));
  return readFileSync(admin.file);
}

/** A file without problems, which no process has open, at a time. Its settings name a port on which no server listens. */
export async function aHealthy(settings: Readonly<Record<string, string>> = {}, nowMs: number | null = null) {
  const admin = anAdmin([], { PORT: String(await aFreePort()), ...settings }, nowMs);
  writeFileSync(admin.file, (made ??= await aFile()), { mode: 0o600 });
  return admin;
}

/** Changes the file as a program does that closes it again. */
export function change({ file }: Admin, ...statements: readonly string[]): void {
  using database = new Database(file);
  for (const statement of [...statements, "PRAGMA wal_checkpoint(TRUNCATE)"]) database.run(statement);
}
