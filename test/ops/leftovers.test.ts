/** The files that a killed command has left contain personal data: the next command removes them. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../support/admin.ts";
import { filesWith } from "../support/folder.ts";

const person = "a@example.com";
const longAgo = new Date(Date.now() - 7_200_000);

/** Returns the ID of a process that has ended. */
async function ended(): Promise<number> {
  const child = Bun.spawn(["true"]);
  await child.exited;
  return child.pid;
}

/** A database, and a way to leave the draft folder of a process in its folder. */
async function aDatabase() {
  const admin = anAdmin();
  await admin.import(`date,pixel_id,email\n2026-01-31,px,${person}\n2026-01-31,px,b@example.com\n`);
  const leave = (pid: number, when: Date) => {
    const path = join(admin.folder, `.leadfile-draft-${pid}-${Math.random()}`);
    mkdirSync(path);
    writeFileSync(join(path, "leadfile.db"), `SQLite format 3\0 "${person}"`);
    utimesSync(path, when, when);
    return path;
  };
  return { admin, leave };
}

test.each(["backup", "backup --drill"])("%s removes drafts of killed processes, and no others", async (command) => {
  const { admin, leave } = await aDatabase();
  const dead = await ended();
  const gone = leave(dead, longAgo);
  // On another machine that has the same folder, or in another container, the process may be alive.
  const stay = [leave(process.ppid, longAgo), leave(dead, new Date())];
  expect((await admin.run(...command.split(" "), join(admin.folder, "copy.db"))).status).toBe(0);
  expect([gone, ...stay].filter((path) => existsSync(path))).toEqual(stay);
});

test("an erasure removes the draft of a killed restore", async () => {
  const { admin, leave } = await aDatabase();
  leave(await ended(), new Date());
  expect((await admin.run("lead", "erase", "acme", "--email", person)).status).toBe(0);
  expect(filesWith(admin.folder, person)).toEqual([]);
});
