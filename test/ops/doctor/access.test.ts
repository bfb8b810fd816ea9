/** bun admin doctor on files that others may read or replace, and on a log that grows. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { chmodSync, linkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { aHealthy, examine } from "./examined.ts";

describe("worth a look, with status 1", () => {
  test("others who may read the file", async () => {
    const admin = await aHealthy();
    chmodSync(admin.file, 0o644);
    expect(await examine(admin)).toMatchObject({
      status: 1,
      findings: [{ level: "warning", what: expect.stringContaining("644"), advice: `chmod 600 ${admin.file}` }],
    });
  });

  test.each(["-wal", "-shm"])("others who may read what lies beside the file: %s", async (suffix) => {
    const admin = await aHealthy();
    using open = new Database(admin.file);
    open.run("UPDATE accounts SET name = name");
    chmodSync(admin.file + suffix, 0o640);
    expect(await examine(admin)).toMatchObject({
      status: 1,
      findings: [{ level: "warning", advice: `chmod 600 ${admin.file}${suffix}` }],
    });
  });

  test("a log that has grown, because nothing folds it in", async () => {
    const admin = await aHealthy();
    using open = new Database(admin.file);
    open.run("UPDATE accounts SET name = name");
    truncateSync(`${admin.file}-wal`, 300_000_000);
    const { status, stdout } = await admin.run("doctor", "--json");
    expect([status, stdout]).toEqual([1, expect.stringContaining("has grown to 300 MB")]);
  });

  test("a second name of the file, as copies by hard links make it", async () => {
    const admin = await aHealthy();
    linkSync(admin.file, join(admin.folder, "snapshot"));
    expect(await examine(admin)).toMatchObject({
      status: 1,
      findings: [
        { level: "warning", what: expect.stringContaining("2 names"), advice: expect.stringContaining("-samefile") },
      ],
    });
  });

  test("others who may put another file in its place", async () => {
    const admin = await aHealthy();
    chmodSync(admin.folder, 0o777);
    expect((await examine(admin)).findings).toMatchObject([
      { level: "warning", advice: expect.stringContaining("chmod") },
    ]);
    // In a folder such as /tmp nobody can replace the file of another.
    chmodSync(admin.folder, 0o1777);
    expect((await examine(admin)).status).toBe(0);
  });
});
