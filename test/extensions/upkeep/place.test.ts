/** The place of daily backups: to which database it belongs, and what doctor, rotation, and restore make of it. */
import { describe, expect, onTestFinished, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateIdentity, identityToRecipient } from "age-encryption";
import fc from "fast-check";
import { findDoubt } from "../../../extensions/upkeep/owner.ts";
import { backupName, type StoredBackup } from "../../../src/backup/places.ts";
import { dayMs } from "../../../src/contract/calendar.ts";
import { header, rows, withPlace } from "../../backup/restore/a-backup.ts";
import { type Admin, anAdmin } from "../../support/admin.ts";
import { change, examine } from "../../support/doctor.ts";
import { until } from "../../support/eventually.ts";
import { needing } from "../../support/needing.ts";
import { serveFolder } from "../../support/object-store.ts";
import { start } from "../../support/process.ts";

// A test starts servers, and each makes a backup.
setDefaultTimeout(60_000);

/** A database with leads, and a backup of it that is some days old in its place. */
async function withBackup(leads: number, ageDays = 2) {
  const { admin, place } = withPlace();
  await admin.import(header + rows(0, leads));
  const old = anAdmin([], { DATABASE_PATH: admin.file }, Date.now() - ageDays * dayMs);
  const file = join(place, backupName(Date.now() - ageDays * dayMs));
  expect((await old.run("backup", file)).status).toBe(0);
  return { admin, place, file };
}

/** Serves a file with daily backups until a second backup is made, and returns the findings of doctor and the pings. */
async function serveAt(databasePath: string, admin: Admin, place: string, keep = "1") {
  let pings = 0;
  const pinged = Bun.serve({ port: 0, fetch: () => new Response(String(++pings)) });
  onTestFinished(() => pinged.stop(true));
  const settings = { BACKUP_TO: place, BACKUP_KEEP: keep, ALERT_PING_URL: pinged.url.href, LOG_LEVEL: "info" };
  const before = readdirSync(place).length;
  const server = start({ DATABASE_PATH: databasePath, ...settings }, admin.folder);
  await server.listening();
  await server.said(/a backup was made and verified/);
  await until(() => readdirSync(place).length !== before || pings > 0);
  await server.end("SIGTERM");
  const said = await examine(anAdmin([], { DATABASE_PATH: databasePath, ...settings }));
  return { pings, ...said };
}

/** Makes each backup in a place a day and an hour older, so that the next start makes one. */
function age(place: string): void {
  for (const name of backupsIn(place)) {
    const manifest = JSON.parse(readFileSync(join(place, `${name}.manifest.json`), "utf8"));
    const madeMs = Date.parse(manifest.made_at) - dayMs - 3_700_000;
    const older = join(place, backupName(madeMs));
    renameSync(join(place, name), older);
    rmSync(join(place, `${name}.manifest.json`));
    writeFileSync(`${older}.manifest.json`, JSON.stringify({ ...manifest, made_at: new Date(madeMs).toISOString() }));
  }
}

const backupsIn = (place: string) =>
  readdirSync(place)
    .filter((name) => /\.db$/.test(name))
    .toSorted();

describe("a server whose database is missing", () => {
  test.each([
    ["a typing error in DATABASE_PATH", (admin: Admin) => join(admin.folder, "leadfile2.db")],
    [
      "a lost file",
      (admin: Admin) => {
        for (const name of readdirSync(admin.folder))
          if (name.startsWith("leadfile.db")) rmSync(join(admin.folder, name));
        return admin.file;
      },
    ],
  ])("after %s is broken, deletes no good backup although BACKUP_KEEP is 1, and pings nothing", async (_, break_) => {
    const { admin, place, file } = await withBackup(5);
    const path = break_(admin);
    const { pings, status, findings } = await serveAt(path, admin, place);
    expect(existsSync(file)).toBe(true);
    expect([pings, status]).toEqual([0, 2]);
    const [found] = findings.filter(({ level }) => level === "broken");
    for (const name of ["BACKUP_TO", "DATABASE_PATH", "5 leads"]) expect(found?.what).toContain(name);
    expect(found?.advice).toContain(`restore ${file}`);
    // A second night changes nothing: the place still has a backup of another database.
    age(place);
    const again = await serveAt(path, admin, place);
    expect([backupsIn(place).length, again.pings, again.status]).toEqual([3, 0, 2]);
  });

  test("is broken before it is started, too", async () => {
    const { admin, place } = await withBackup(5);
    rmSync(admin.file);
    const { said } = await examine(anAdmin([], { DATABASE_PATH: admin.file, BACKUP_TO: place }));
    expect(said).toContain("(DATABASE_PATH) does not exist");
  });

  test("is not mistaken for one of an earlier version, which has no instance to compare", async () => {
    const { admin, place } = await withBackup(5, 0);
    change(
      admin,
      "DELETE FROM __drizzle_migrations WHERE created_at = (SELECT max(created_at) FROM __drizzle_migrations)",
    );
    const { said } = await examine(anAdmin([], { DATABASE_PATH: admin.file, BACKUP_TO: place }));
    expect(said).toBe("An earlier version of Leadfile wrote the file.");
  });

  test("is well again with the right path, and rotates", async () => {
    const { admin, place, file } = await withBackup(5);
    await serveAt(join(admin.folder, "typo.db"), admin, place);
    const [, wrong = ""] = backupsIn(place);
    for (const name of [wrong, `${wrong}.manifest.json`]) rmSync(join(place, name));
    const { pings, findings } = await serveAt(admin.file, admin, place);
    expect([pings, existsSync(file), backupsIn(place).length]).toEqual([1, false, 1]);
    expect(findings).toEqual([]);
  });
});

test("a restore of the newest backup refuses a place with backups of two databases, and names both", async () => {
  const { admin, place, file } = await withBackup(5);
  await serveAt(join(admin.folder, "typo.db"), admin, place, "14");
  const { status, stderr } = await admin.run("restore", place);
  expect([status, stderr]).toEqual([1, expect.stringMatching(/has backups of 2 databases.*\(0 leads\).*\(5 leads\)/)]);
  expect((await admin.run("restore", file, "--yes")).status).toBe(0);
});

test("a database with fewer than half of the leads is broken, and deletes nothing until the next backup", async () => {
  const { admin, place, file } = await withBackup(9);
  await admin.run("import", "undo", "acme", "1");
  await admin.import(header + rows(0, 4));
  const settings = { DATABASE_PATH: admin.file, BACKUP_TO: place };
  const before = await examine(anAdmin([], settings));
  expect(before).toMatchObject({ status: 2, said: expect.stringContaining("has 4 leads, and the newest backup in") });
  expect(await serveAt(admin.file, admin, place)).toMatchObject({ pings: 0 });
  expect(existsSync(file)).toBe(true);
  await admin.import(header + rows(4, 5));
  expect(await examine(anAdmin([], settings))).toMatchObject({ status: 0 });
});

test("whatever databases put backups into a place, a doubt is found unless all of them are of this one and not much larger", () => {
  const aBackup = fc.record({ instance: fc.constantFrom("ins_a", "ins_b", null), leads: fc.nat(20) });
  fc.assert(
    fc.property(fc.array(aBackup, { maxLength: 6 }), fc.nat(20), (made, leads) => {
      const backups = made.map((one, day): StoredBackup => {
        return { ...one, file: `b${day}`, made_at: `2026-01-${20 - day}`, bytes: 1, encrypted: false };
      });
      const isRight = backups.every(({ instance }) => instance !== "ins_b") && leads * 2 >= (backups[0]?.leads ?? 0);
      const doubt = findDoubt(backups, { path: "/x.db", instance: "ins_a", leads }, "/place");
      return (doubt === null) === isRight;
    }),
  );
});

describe("doctor looks at BACKUP_TO each time:", () => {
  const examineWith = (admin: Admin, settings: Record<string, string>) =>
    examine(anAdmin([], { DATABASE_PATH: admin.file, ...settings }));

  test("a place without a backup of this database is a warning", async () => {
    const { admin, place } = await withBackup(3, 0);
    expect((await examineWith(admin, { BACKUP_TO: place })).status).toBe(0);
    const other = join(admin.folder, "elsewhere");
    mkdirSync(other);
    const { status, said } = await examineWith(admin, { BACKUP_TO: other });
    expect([status, said]).toEqual([
      1,
      expect.stringContaining("elsewhere (BACKUP_TO) has no backup of this database"),
    ]);
  });

  test("a place whose newest backup is older than 26 hours is a warning", async () => {
    const { admin, place } = await withBackup(3, 1.1);
    expect((await examineWith(admin, { BACKUP_TO: place })).said).toContain("The last backup was made at ");
  });

  test("a folder that is missing is a warning", async () => {
    const { admin, place } = await withBackup(3);
    renameSync(place, `${place}-moved`);
    const { status, said } = await examineWith(admin, { BACKUP_TO: place });
    expect([status, said]).toEqual([1, expect.stringContaining(`There is no folder ${place}`)]);
  });

  const s3 = async (settings: Record<string, string>) => {
    const { admin } = await withBackup(1, 0);
    const recipient = await identityToRecipient(await generateIdentity());
    return examineWith(admin, { BACKUP_TO: "s3://bucket/leads", BACKUP_RECIPIENT: recipient, ...settings });
  };
  const keys = { AWS_ACCESS_KEY_ID: "key", AWS_SECRET_ACCESS_KEY: "secret" };

  test("a name that does not resolve, and a port on which nobody listens", async () => {
    for (const host of ["s3.invalid", "127.0.0.1:9"]) {
      const { status, said } = await s3({ ...keys, AWS_ENDPOINT_URL: `http://${host}` });
      expect([status, said]).toEqual([1, expect.stringContaining("s3://bucket/leads cannot be read")]);
    }
  });

  test("a store that does not answer, within 10 seconds", async () => {
    const store = Bun.serve({ port: 0, idleTimeout: 0, fetch: () => new Promise<Response>(() => {}) });
    onTestFinished(() => store.stop(true));
    const { admin } = await withBackup(1, 0);
    const recipient = await identityToRecipient(await generateIdentity());
    const settings = {
      BACKUP_TO: "s3://bucket/leads",
      BACKUP_RECIPIENT: recipient,
      AWS_ENDPOINT_URL: store.url.origin,
    };
    const startedMs = performance.now();
    // In its own process, which the unanswered request must not keep running.
    const doctor = anAdmin([], { ...keys, ...settings, DATABASE_PATH: admin.file }).start("doctor");
    expect(await doctor.exited).toBe(1);
    expect(doctor.output()).toContain("did not answer within 10 seconds");
    expect(performance.now() - startedMs).toBeLessThan(20_000);
  }, 40_000);

  needing("versitygw")("a missing bucket, a wrong key ID, and a wrong secret", async () => {
    const { admin } = await withBackup(1, 0);
    const folder = join(admin.folder, "store");
    mkdirSync(join(folder, "bucket"), { recursive: true });
    const { environment, child } = await serveFolder(folder);
    onTestFinished(() => child.kill());
    const wrong = [
      { BACKUP_TO: "s3://missing/leads" },
      { AWS_ACCESS_KEY_ID: "other" },
      { AWS_SECRET_ACCESS_KEY: "other" },
    ];
    for (const settings of wrong) {
      const { status, said } = await s3({ ...environment, ...settings });
      expect([settings, status, said]).toEqual([settings, 1, expect.stringContaining("cannot be read")]);
    }
    expect((await s3(environment)).said).toContain("has no backup of this database");
  });
});

test("the last attempt is a finding until one succeeds", async () => {
  const { admin, place } = await withBackup(3);
  const settings = { DATABASE_PATH: admin.file, BACKUP_TO: place, LOG_LEVEL: "info" };
  // As with an access key that may list and not write: the name of the next backup is taken by a folder.
  const taken = Array.from({ length: 120 }, (_, second) => join(place, backupName(Date.now() + second * 1000)));
  for (const name of taken) mkdirSync(name);
  const server = start(settings, admin.folder);
  await server.said(/the backup failed/);
  await server.end("SIGTERM");
  const { status, said } = await examine(anAdmin([], settings));
  expect([status, said]).toEqual([1, expect.stringMatching(/The backup at \S+Z failed: /)]);
  for (const name of taken) rmSync(name, { recursive: true });
  await serveAt(admin.file, admin, place);
  expect((await examine(anAdmin([], settings))).findings).toEqual([]);
});
