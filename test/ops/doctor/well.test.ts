/** bun admin doctor where all is well: it says what it looked at, and finds nothing. */
import { describe, expect, test } from "bun:test";
import { anAdmin } from "../../support/admin.ts";
import { start } from "../../support/process.ts";
import { aFreePort } from "../../support/proxy.ts";
import { aHealthy, examine } from "./examined.ts";

describe("where all is well", () => {
  test.each(["", "--full"])("doctor %s finds nothing and ends with 0", async (option) => {
    expect(await examine(await aHealthy(), ...option.split(" ").filter(Boolean))).toMatchObject({
      status: 0,
      findings: [],
    });
  });

  test("it says what it looked at, in lines that fit a terminal", async () => {
    const { stdout, status } = await (await aHealthy()).run("doctor");
    expect(status).toBe(0);
    const things = "file schema plans integrity clock keys backups permissions disk log settings".split(" ");
    // An extension adds its own below these.
    expect([...stdout.matchAll(/^fine +(\w+) /gm)].map(([, thing]) => thing).slice(0, things.length)).toEqual(things);
    expect(stdout).toEndWith("All is well.\n");
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  test("a running server and its log are no finding, and the server is asked how it is", async () => {
    const admin = await aHealthy();
    const PORT = String(await aFreePort());
    const server = start({ DATABASE_PATH: admin.file, PORT }, admin.folder);
    await server.listening();
    const there = anAdmin([], { DATABASE_PATH: admin.file, PORT });
    const { stdout, status } = await there.run("doctor");
    expect(stdout).toMatch(/^fine +server +It answers at http:\/\/127\.0\.0\.1:\d+\.$/m);
    expect(status).toBe(0);
  });
});
