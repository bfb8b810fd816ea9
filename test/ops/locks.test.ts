/** A running server and commands that come and go share one file, and nobody takes it from the other. */

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, utimesSync } from "node:fs";
import { anAdmin } from "../admin.ts";
import { start } from "../process.ts";

const row = (number: number) =>
  `email,identified_at,pixel_id\nv${number}@example.com,2026-01-01T00:00:0${number}Z,px\n`;

test("commands that end leave the log of a running server in place, and what they wrote is served at once", async () => {
  const admin = anAdmin();
  const key = (await admin.run("key", "create", "acme", "--json")).json;
  const server = start({ DATABASE_PATH: admin.file }, admin.folder);
  const url = await server.listening();
  const leads = () => fetch(`${url}/api/v1/leads`, { headers: { Authorization: `Bearer ${key.key}` } });

  for (let number = 1; number <= 5; number++) {
    await admin.import(row(number));
    // A checkpoint touches the file, which makes the server look at it.
    using other = new Database(admin.file);
    other.run("PRAGMA wal_checkpoint");
    utimesSync(admin.file, new Date(), new Date());
    const page: unknown = await (await leads()).json();
    expect(page).toMatchObject({ data: { length: number } });
  }
  await admin.run("account", "list");
  expect(existsSync(`${admin.file}-wal`)).toBe(true);

  await admin.run("key", "revoke", key.id);
  expect((await leads()).status).toBe(401);
  expect(await server.end("SIGTERM")).toBe(0);
  using file = new Database(admin.file);
  expect(file.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
});
