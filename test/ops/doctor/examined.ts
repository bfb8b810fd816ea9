/** An instance for the doctor to look at, and the look itself, which must change nothing. */
import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Admin, anAdmin } from "../../support/admin.ts";
import { aFreePort } from "../../support/proxy.ts";

export interface Finding {
  readonly level: "warning" | "broken";
  readonly what: string;
  readonly advice: string;
}

/** Runs the doctor and sees to it that the folder is as it was. */
export async function examine(admin: Admin, ...options: readonly string[]) {
  // A connection of this process that is closed lets go of the file when it is collected.
  Bun.gc(true);
  const before = contentsOf(admin.folder);
  const ended = await admin.run("doctor", "--json", ...options);
  expect(contentsOf(admin.folder)).toEqual(before);
  expect(ended.stderr).toBe("");
  const { findings } = JSON.parse(ended.stdout) as { findings: Finding[] };
  for (const { what, advice } of findings) {
    expect(what).toMatch(/\.$/);
    expect(advice.length).toBeGreaterThan(5);
  }
  return { status: ended.status, findings, said: findings.map(({ what }) => what).join("\n") };
}

/** The database files of a folder, the spool beside it aside, and what is in them; readers leave marks in the index of a log. */
export function contentsOf(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.includes(".db") && !name.endsWith(".spool"));
  return names.toSorted().map((name) => {
    const bytes = name.endsWith("-shm") ? "" : readFileSync(join(folder, name));
    return `${name} ${new Bun.CryptoHasher("sha256").update(bytes).digest("hex")}`;
  });
}

/** A file with a lead, made by commands: what this process opened itself it lets go of only when it is collected. */
let made: Buffer | null = null;

async function aFile(): Promise<Buffer> {
  const admin = anAdmin([]);
  await admin.run("account", "create", "acme");
  await admin.import("email,state,identified_at,pixel_id\nv@example.com,CA,2026-01-01T00:00:00Z,px\n");
  await admin.run("backup", join(admin.folder, "copy.db"));
  return readFileSync(admin.file);
}

/** An instance that nobody has open, whose settings name a port that nobody listens on. */
export async function aHealthy(settings: Readonly<Record<string, string>> = {}): Promise<Admin> {
  const admin = anAdmin([], { PORT: String(await aFreePort()), ...settings });
  writeFileSync(admin.file, (made ??= await aFile()), { mode: 0o600 });
  return admin;
}

/** Changes the file as a program does that is closed again. */
export const change = (admin: Admin, statement: string) => {
  using database = new Database(admin.file);
  database.run(statement);
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
};
