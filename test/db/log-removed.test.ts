/** Somebody removes the files next to the database while it is served. */
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { eventually } from "../support/eventually.ts";
import { serve } from "../support/harness.ts";

test.each([["-wal"], ["-shm"]])(
  "a server whose %s file was removed says so, and does not go on admitting keys that others revoke",
  async (suffix) => {
    const { as, aKey, file, logged } = await serve();
    const key = aKey();
    expect((await as(key).get("/leads")).status).toBe(200);
    rmSync(file + suffix);
    // Requests that come close together share one look at the files.
    await eventually(async () => expect((await as(key).get("/leads")).status).toBe(500));
    for (let ask = 0; ask < 5; ask++) {
      const { status, body } = await as(key).get("/leads");
      expect({ status, code: body.error.code }).toEqual({ status: 500, code: "query_failed" });
    }
    expect(logged.join("")).toContain("restart");
  },
);
