/** A node whose clock is wrong: what is written beside the others goes in as ever. */
import { Database } from "bun:sqlite";
import { describe, expect, spyOn, test } from "bun:test";
import { openWriter } from "../../../extensions/cluster/writer.ts";
import { aCluster, missing } from "./cluster.ts";

const tenYearsMs = 10 * 365 * 86_400_000;

describe.skipIf(missing !== null)(`a cluster of three nodes${missing === null ? "" : ` (${missing})`}`, () => {
  test.each([tenYearsMs, -tenYearsMs])("knows its last writes where the clock of one was %d ms off", async (ms) => {
    const [{ node }, { node: wrong }] = (await aCluster()).places;
    using writer = openWriter(node.path, node);
    using another = openWriter(wrong.path, wrong);
    writer.commit([]);
    const clock = spyOn(Date, "now").mockReturnValue(Date.now() + ms);
    another.commit([]);
    clock.mockRestore();
    writer.commit([]);
    using file = new Database(node.path, { readonly: true });
    expect(file.query("SELECT count(*) FROM writes").values()).toEqual([[3]]);
  });
});
