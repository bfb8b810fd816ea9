/** With BACKUP_RECIPIENT, the place of backups never has a plain copy: not while a backup is made, and not after a kill. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { header, rows, withPlace } from "../../backup/restore/a-backup.ts";
import { copyLead } from "../../support/database.ts";
import { until } from "../../support/eventually.ts";
import { start } from "../../support/process.ts";

setDefaultTimeout(120_000);

const draftsIn = (folder: string) => readdirSync(folder).filter((name) => name.startsWith(".leadfile-draft-"));

/** The files below a folder that are readable databases, or contain the address of a lead. */
function plainIn(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      try {
        return /SQLite format 3|d0@example\.com/.test(readFileSync(path, "latin1"));
      } catch {
        // It was a draft, and is gone.
        return false;
      }
    });
}

/** Kills the process that makes a backup, which the server of the test has started, unless it has ended. */
function killMaker(draft: string): void {
  const pid = Number(/\d+/.exec(draft)?.[0]);
  try {
    if (pid > 0) process.kill(pid, "SIGKILL");
  } catch {
    // The backup was complete before.
  }
}

test("a killed backup leaves no plain copy in BACKUP_TO, and nothing stays next to the database", async () => {
  const { admin, place } = withPlace();
  await admin.import(header + rows(0, 1));
  copyLead(admin, 20_000);
  const recipient = await identityToRecipient(await generateIdentity());
  const settings = { DATABASE_PATH: admin.file, BACKUP_TO: place, BACKUP_RECIPIENT: recipient };
  // An earlier version made its drafts there.
  const earlier = join(place, ".leadfile-draft-999999999-x");
  mkdirSync(earlier);
  writeFileSync(join(earlier, "leadfile.db"), "SQLite format 3");
  for (const delayMs of [0, 100]) {
    const server = start(settings, admin.folder);
    await server.listening();
    await until(() => draftsIn(admin.folder).length > 0);
    const [draft = ""] = draftsIn(admin.folder);
    await Bun.sleep(delayMs);
    killMaker(draft);
    expect(await server.end("SIGKILL")).not.toBe(0);
    expect(plainIn(place)).toEqual([]);
    if (readdirSync(place).some((name) => name.endsWith(".age"))) break;
  }
  const server = start(settings, admin.folder);
  await server.listening();
  const seen = new Set<string>();
  await until(() => {
    for (const path of plainIn(place)) seen.add(path);
    return readdirSync(place).some((name) => name.endsWith(".age.manifest.json"));
  });
  await server.end("SIGTERM");
  expect([...seen]).toEqual([]);
  // A process that lost its server may end later than that server was started again.
  await until(async () => {
    await admin.run("lead", "erase", "acme", "--email", "nobody@example.com");
    return [admin.folder, place].every((folder) => draftsIn(folder).length === 0);
  }, 200);
});
