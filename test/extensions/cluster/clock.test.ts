/** A node whose clock is wrong: what is written beside the others goes in as ever. */
import { Database } from "bun:sqlite";
import { expect, spyOn, test } from "bun:test";
import { openClusterDatabase } from "../../../extensions/cluster/database.ts";
import { openNodeFile } from "../../../extensions/cluster/node-file.ts";
import { unless } from "../../support/needing.ts";
import { aCluster, missing } from "./cluster.ts";

const tenYearsMs = 10 * 365 * 86_400_000;

unless(missing).describe("a cluster of three nodes", () => {
  test.each([tenYearsMs, -tenYearsMs])("knows its last writes where the clock of one was %d ms off", async (ms) => {
    const [{ node }, { node: wrong }] = (await aCluster()).places;
    const database = openClusterDatabase(openNodeFile(node.path), node);
    const another = openClusterDatabase(openNodeFile(wrong.path), wrong);
    using file = new Database(node.path, { readonly: true });
    const count = () =>
      file.query<{ count: number }, []>("SELECT count(*) AS count FROM cluster_writes").get()?.count ?? 0;
    const before = count();
    await database.write([]);
    const clock = spyOn(Date, "now").mockReturnValue(Date.now() + ms);
    await another.write([]);
    clock.mockRestore();
    await database.write([]);
    await database.catchUp();
    expect(count()).toBeGreaterThanOrEqual(before + 3);
    database.close();
    another.close();
  });
});
