/** Whoever wants to write while an import runs does not wait behind it. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { openAdminStore } from "../../src/sqlite/admin-store.ts";
import { anAdmin } from "../admin.ts";

/** Much less than the two seconds for which a transaction goes on where nobody asks, with room for a busy machine. */
const longestMs = 1_000;

const rows = Array.from({ length: 30_000 }, (_, n) => `2026-01-31,d${n}@example.com\n`).join("");

test("a command that writes waits for a part of a second, however often it comes", async () => {
  const admin = anAdmin();
  const store = openAdminStore(admin.file);
  const account = store.accounts.find("acme")?.number ?? 0;
  const importing = admin.import(`date,email\n${rows}`, "--pixel", "px");
  let done = false;
  void importing.then(() => (done = true));
  const waitsMs: number[] = [];
  while (!done) {
    if (existsSync(`${admin.file}.asking`)) {
      const begunMs = performance.now();
      store.accounts.setActive(account, true);
      waitsMs.push(performance.now() - begunMs);
    }
    await Bun.sleep(20);
  }
  expect((await importing).json).toMatchObject({ imported: 30_000 });
  expect(waitsMs.length).toBeGreaterThan(3);
  expect(Math.max(...waitsMs)).toBeLessThan(longestMs);
  store.close();
}, 60_000);

test("a program that waited for the lock leaves nothing behind", async () => {
  const admin = anAdmin();
  await admin.import(`date,email\n${rows.slice(0, 1000)}`, "--pixel", "px");
  expect(existsSync(`${admin.file}.asking`)).toBe(false);
});

test("an import that was asked for the lock by somebody who is gone goes on", async () => {
  const admin = anAdmin();
  await Bun.write(`${admin.file}.asking`, "....");
  expect((await admin.import("date,email\n2026-01-31,a@example.com\n", "--pixel", "px")).json).toMatchObject({
    imported: 1,
  });
  using file = new Database(admin.file);
  expect(file.query("SELECT count(*) AS leads FROM stored_leads").get()).toEqual({ leads: 1 });
});
