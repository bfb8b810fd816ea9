/** bun admin doctor on the file of a running server: is it still the one that the server has open? */
import { expect, test } from "bun:test";
import { copyFileSync, renameSync, rmSync, statSync } from "node:fs";
import { needing } from "../../support/needing.ts";
import { start } from "../../support/process.ts";
import { aHealthy, examine } from "./examined.ts";

needing("/proc").describe("a file under a running server", () => {
  async function served() {
    const admin = await aHealthy();
    const server = start({ DATABASE_PATH: admin.file }, admin.folder);
    const url = await server.listening();
    // The log is there from the first writing on.
    await admin.run("pixel", "create", "acme", "--id", "px_2");
    return { admin, url };
  }

  test("that was deleted is found by the server that still has it open", async () => {
    const { admin } = await served();
    rmSync(admin.file);
    const { status, said } = await examine(admin);
    expect(said).toMatch(/Process \d+ has a file open that was since deleted/);
    expect(status).toBe(2);
  });

  test("that was replaced by a copy is found", async () => {
    const { admin } = await served();
    copyFileSync(admin.file, `${admin.file}.new`);
    renameSync(`${admin.file}.new`, admin.file);
    expect((await examine(admin)).said).toMatch(/Process \d+ has a file open/);
  });

  test("that was moved away before another one took its place is found", async () => {
    const { admin } = await served();
    renameSync(admin.file, `${admin.file}.old`);
    copyFileSync(`${admin.file}.old`, admin.file);
    expect((await examine(admin)).said).toMatch(/Process \d+ has a file open/);
  });

  test("that is the same is not reported", async () => {
    const { admin } = await served();
    expect(await examine(admin)).toMatchObject({ status: 0, findings: [] });
    expect(statSync(admin.file).size).toBeGreaterThan(0);
  });
});
