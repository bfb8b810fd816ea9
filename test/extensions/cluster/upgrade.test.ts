/** A rolling upgrade: one command makes the new schema, and servers of the version before go on until they are replaced. */
import { expect, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { someLeads } from "../../support/builders.ts";
import { aFolder } from "../../support/folder.ts";
import { unless } from "../../support/needing.ts";
import { start } from "../../support/process.ts";
import { aCluster, answerOf, missing, settingsOf, until } from "./cluster.ts";

const project = join(import.meta.dir, "../../..");

/** The product as it may be one day: with one migration more. */
function theNextVersion(): string {
  const folder = aFolder();
  for (const name of ["src", "drizzle", "extensions", "packages", "package.json", "bunfig.toml", "docs/api.md"]) {
    cpSync(join(project, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(project, "node_modules"), join(folder, "node_modules"));
  const journal = join(folder, "drizzle/meta/_journal.json");
  const known: { entries: { idx: number; when: number }[] } = JSON.parse(readFileSync(journal, "utf8"));
  const last = known.entries.at(-1);
  if (last === undefined) throw new Error("there is a first migration");
  const next = { ...last, idx: last.idx + 1, when: last.when + 1, tag: "0001_next" };
  writeFileSync(journal, JSON.stringify({ ...known, entries: [...known.entries, next] }));
  const statements =
    "ALTER TABLE `keys` ADD `colour` text;--> statement-breakpoint\nCREATE TABLE `shelves` (`number` integer PRIMARY KEY NOT NULL) STRICT;";
  writeFileSync(join(folder, "drizzle/0001_next.sql"), statements);
  return folder;
}

unless(missing).describe("a cluster of three nodes", () => {
  test("goes over to the next version while servers of the earlier one continue", async () => {
    const cluster = await aCluster(someLeads(3));
    const next = theNextVersion();
    const [place, ...others] = cluster.places;
    const page = (await answerOf(cluster.as(place), "/leads")).text;
    const settings = settingsOf(place.node);

    // In the place of the server of this node, before the schema is updated.
    expect(await place.server.end("SIGTERM")).toBe(0);
    const early = start(settings, aFolder(), [process.execPath, join(next, "src/main.ts")]);
    const url = await early.listening();
    const ask = () => fetch(`${url}/api/v1/leads`, { headers: { Authorization: `Bearer ${cluster.key}` } });
    expect((await ask()).status).toBe(500);

    const run = (...args: string[]) =>
      start(settings, aFolder(), [process.execPath, join(next, "src/admin.ts"), ...args]);
    const doctor = run("doctor");
    await doctor.exited;
    expect(doctor.output()).toMatch(/An earlier version.+cluster\s+migrate/s);
    const folder = aFolder();
    expect(await run("backup", join(folder, "copy.db")).exited).toBe(0);
    expect(readdirSync(folder).toSorted()).toEqual(["copy.db", "copy.db.manifest.json"]);

    const migrated = run("cluster", "migrate");
    expect([await migrated.exited, migrated.output()]).toEqual([
      0,
      "Migrations applied: 1. Servers of the earlier version continue to serve.\n",
    ]);
    await until(async () => (await (await ask()).text()) === page);
    for (const other of others) expect((await answerOf(cluster.as(other), "/leads")).text).toBe(page);
    const again = run("cluster", "migrate");
    expect([await again.exited, again.output()]).toEqual([
      0,
      "The schema is up to date. Servers of the earlier version continue to serve.\n",
    ]);
  });
});
