/** bun admin doctor on what grows old: keys, backups, the clock, the version of the file. */
import { describe, expect, test } from "bun:test";
import { utimesSync, writeFileSync } from "node:fs";
import { dayMs, dayOf } from "../../../src/contract/calendar.ts";
import { anAdmin } from "../../support/admin.ts";
import { aHealthy, change, examine } from "./examined.ts";

describe("worth a look, with status 1", () => {
  test("a key that was not used for long", async () => {
    const admin = await aHealthy();
    const { id } = (await admin.run("key", "create", "acme", "--json")).json;
    expect((await examine(admin)).status).toBe(0);
    change(admin, "UPDATE keys SET created_at = 0");
    const { status, said } = await examine(admin);
    expect(said).toContain(id);
    expect(status).toBe(1);
    change(admin, `INSERT INTO usage (key, day, requests) VALUES (1, '${dayOf(Date.now())}', 1)`);
    expect((await examine(admin)).status).toBe(0);
    change(admin, "DELETE FROM usage");
    change(admin, "UPDATE keys SET expires_at = 86400000");
    expect((await examine(admin)).status).toBe(0);
    change(admin, "UPDATE keys SET expires_at = NULL");
    expect((await examine(admin)).status).toBe(1);
    await admin.run("key", "revoke", id);
    expect((await examine(admin)).status).toBe(0);
  });

  test("a key that expires soon, unless another one of its label goes on", async () => {
    const admin = await aHealthy();
    const days = (count: number) => new Date(Date.now() + count * dayMs).toISOString();
    const make = (...options: string[]) => admin.run("key", "create", "acme", "--label", "CRM", "--json", ...options);
    await make("--expires", days(15), "--label", "later");
    expect((await examine(admin)).status).toBe(0);
    const { id } = (await make("--expires", days(13))).json;
    expect(await examine(admin)).toMatchObject({ status: 1, said: expect.stringContaining(`14 days: ${id} of acc_`) });
    await make("--label", "other");
    expect((await examine(admin)).status).toBe(1);
    await make();
    expect((await examine(admin)).status).toBe(0);
  });

  test.each([
    ["a lead", "UPDATE stored_leads SET identified_at = 4102444800000"],
    ["a count of requests", "INSERT INTO usage (key, day, requests) VALUES (1, '2100-01-01', 1)"],
  ])("a clock that is behind %s of the file", async (_, statement) => {
    const admin = await aHealthy();
    await admin.run("key", "create", "acme");
    change(admin, statement);
    expect(await examine(admin)).toMatchObject({ status: 1, said: expect.stringContaining("The clock says") });
  });

  test("a clock that is behind the last writing of the file", async () => {
    const admin = await aHealthy();
    const future = new Date(Date.now() + 3_600_000);
    utimesSync(admin.file, future, future);
    expect((await examine(admin)).said).toContain("The clock says");
  });

  test("leads of which there is no backup, or an old one alone", async () => {
    const admin = await aHealthy();
    change(admin, `UPDATE audit SET at = at - ${4 * dayMs} WHERE act = 'backup'`);
    expect(await examine(admin)).toMatchObject({
      status: 1,
      said: expect.stringContaining("The last one was made at"),
    });
    change(admin, "DELETE FROM audit");
    expect(await examine(admin)).toMatchObject({ status: 1, said: "No backup was ever made." });
    change(admin, "DELETE FROM stored_leads");
    expect((await examine(admin)).status).toBe(0);
  });

  test.each([
    [25, 0],
    [26.5, 1],
  ])("with BACKUP_TO, a last verified backup that is %p hours old ends with %i", async (hours, status) => {
    const admin = await aHealthy();
    const daily = anAdmin([], { DATABASE_PATH: admin.file, BACKUP_TO: admin.folder });
    const at = Date.now() - hours * 3_600_000;
    change(admin, `INSERT INTO audit (at, act, detail) VALUES (${at}, 'backup.verified', '{}')`);
    const { json } = await daily.run("doctor", "--json");
    const found = Object(json)["findings"].map(({ what }: { what: string }) => what);
    expect(found.filter((what: string) => what.startsWith("The last one was made at"))).toHaveLength(status);
    expect((await examine(admin)).status).toBe(0);
  });

  test("a file of an earlier version", async () => {
    const admin = await aHealthy();
    writeFileSync(admin.file, "");
    expect(await examine(admin)).toMatchObject({ status: 1, said: expect.stringContaining("earlier version") });
  });
});

test("of many keys that expire soon, the next ones to do so are named", async () => {
  const admin = await aHealthy();
  for (const label of ["a", "b", "c", "d"]) await admin.run("key", "create", "acme", "--label", label);
  change(admin, `UPDATE keys SET expires_at = ${Date.now() + 9 * dayMs} - number * ${dayMs}`);
  const made: { id: string }[] = JSON.parse((await admin.run("key", "list", "acme", "--json")).stdout);
  const said = made
    .reverse()
    .slice(0, 3)
    .map(({ id }) => `${id} of acc_\\w+`)
    .join(", ");
  expect((await examine(admin)).said).toMatch(new RegExp(`days: ${said} and 1 more`));
});
