/** What a command that was killed has left behind holds everybody's data: the next one takes it away. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../support/admin.ts";
import { filesWith } from "../support/bytes.ts";

const person = "a@example.com";
const longAgo = new Date(Date.now() - 7_200_000);

/** The id of a process that has ended. */
async function ended(): Promise<number> {
  const child = Bun.spawn(["true"]);
  await child.exited;
  return child.pid;
}

async function aDatabase() {
  const admin = anAdmin();
  await admin.import(`date,pixel_id,email\n2026-01-31,px,${person}\n2026-01-31,px,b@example.com\n`);
  const leave = (name: string, when: Date) => {
    const path = admin.put(name, `SQLite format 3\0 "${person}"`);
    utimesSync(path, when, when);
    return path;
  };
  return { admin, leave };
}

test("a backup removes the drafts of backups of other nights, and leaves those that are being made", async () => {
  const { admin, leave } = await aDatabase();
  const dead = await ended();
  const gone = ["", "-journal", "-wal"].map((suffix) => leave(`monday.db.draft-${dead}${suffix}`, longAgo));
  const stay = [
    leave(`tuesday.db.draft-${process.pid}`, longAgo),
    // On another machine that has the same folder, or in another container.
    leave(`wednesday.db.draft-${dead}`, new Date()),
    leave(`letter.draft-${dead}.txt`, longAgo),
  ];
  const other = admin.put(`essay.draft-${dead}`, "no database");
  utimesSync(other, longAgo, longAgo);
  expect((await admin.run("backup", join(admin.folder, "thursday.db"))).status).toBe(0);
  expect([...gone, ...stay, other].filter((path) => existsSync(path))).toEqual([...stay, other]);
});

test("a drill removes the places of drills that were killed", async () => {
  const { admin } = await aDatabase();
  const place = (pid: number) => {
    const path = join(admin.folder, `.leadfile-drill-${pid}-abcdef`);
    mkdirSync(path);
    writeFileSync(join(path, "leadfile.db"), person);
    utimesSync(path, longAgo, longAgo);
    return path;
  };
  const [dead, alive] = [place(await ended()), place(process.pid)];
  expect((await admin.run("backup", "--drill", join(admin.folder, "copy.db"))).status).toBe(0);
  expect([existsSync(dead), existsSync(alive)]).toEqual([false, true]);
});

test("an erasure removes the draft of a restore that was killed", async () => {
  const { admin, leave } = await aDatabase();
  const dead = await ended();
  for (const suffix of ["", "-mj62A838997"]) leave(`leadfile.db.draft-${dead}${suffix}`, longAgo);
  expect((await admin.run("lead", "erase", "acme", "--email", person)).status).toBe(0);
  expect(filesWith(admin.folder, person)).toEqual([]);
});
