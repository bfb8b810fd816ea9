/** The file of a node, which the node may replace at any moment. */
import { expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { type NodeFile, openNodeFile } from "../../../extensions/cluster/node-file.ts";
import { revision, tableStatements } from "../../../extensions/cluster/tables.ts";
import { openDatabase } from "../../../src/db/open.ts";
import { endWithTest } from "../../support/child.ts";
import { aFolder } from "../../support/folder.ts";
import { until } from "./cluster.ts";

/** Keeps readers out of a file, puts another one in its place, and then lets the readers in. */
const replacing = `
  const { Database } = require("bun:sqlite");
  const [path, other] = process.argv.slice(1);
  const held = new Database(path);
  held.run("BEGIN EXCLUSIVE");
  console.log("held");
  Bun.sleepSync(40);
  require("node:fs").renameSync(other, path);
  held.close();
`;

/** A file that shows a count of the revision, and that nobody has open. */
function aFile(folder: string, count: number): string {
  const path = join(folder, `${count}.sqlite`);
  const database = openDatabase(join(folder, `${count}.source`));
  for (const statement of tableStatements) database.run(statement);
  database.insert(revision).values({ number: 1, count }).run();
  database.run(sql`VACUUM INTO ${path}`);
  database.$client.close();
  return path;
}

test("a file that is replaced while it is opened is not served: the one in its place is", async () => {
  const folder = aFolder();
  const path = aFile(folder, 1);
  const other = aFile(folder, 2);
  const child = Bun.spawn([process.execPath, "-e", replacing, path, other], { stdout: "pipe", stderr: "inherit" });
  endWithTest(child);
  await child.stdout.getReader().read();
  const file = openNodeFile(path);
  onTestFinished(file.release);
  await child.exited;
  await until(() => shownBy(file) !== null);
  await Bun.sleep(2);
  await until(() => shownBy(file) !== null);
  expect(shownBy(file)).toBe(2);
});

/** What a request would see of it; null while it is not there. */
function shownBy(file: NodeFile): number | null {
  try {
    const opening = file.current();
    opening.serving().reader.version();
    return opening.revision();
  } catch {
    file.release();
    return null;
  }
}
