/** bun admin restore: the ledger of what was sent outlives it. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { digestOf } from "../../../src/contract/key.ts";
import { openServedStore, type ServedStore } from "../../../src/server/store.ts";
import { type Admin, anAdmin } from "../../support/admin.ts";
import { backUp, header, rows } from "./a-backup.ts";

/** Closes a store with all of its statements: a restore refuses a file that is open. */
async function closed(store: ServedStore): Promise<void> {
  await store.close();
  Bun.gc(true);
}

const none = { city: undefined, has_email: undefined, pixel_id: undefined, state: undefined };

/** A database with a key, and a server that answers one page of all leads. */
async function aLedger() {
  const admin = anAdmin();
  const { id, key } = (await admin.run("key", "create", "acme", "--json")).json;
  const send = async (limit = 100, { file }: Pick<Admin, "file"> = admin) => {
    const store = openServedStore(file);
    const known = store.keys.find(digestOf(key));
    if (known === null) throw new Error("the key is not there");
    const page = store.leads.page(known.account, { limit, beforeMs: null, sinceMs: null, filters: none });
    store.sent.note(known.number, page, Date.now());
    await closed(store);
  };
  const find = async (email: string, { run }: Pick<Admin, "run"> = admin) =>
    (await run("lead", "find", "acme", "--email", email, "--json")).json;
  return { admin, key: id, send, find };
}

test("the recipients of leads that a restore lost are known when they are imported again", async () => {
  const { admin, key, send, find } = await aLedger();
  await admin.import(header + rows(0, 2));
  const file = await backUp(admin);
  await admin.import(header + rows(2, 4));
  await send(3);
  expect((await admin.run("restore", file)).stderr).toContain("recipients of lost leads (2)");
  expect((await admin.import(header + rows(0, 4))).json).toMatchObject({ duplicates: 2, imported: 2 });
  const received = async (email: string) => (await find(email))["received"];
  // The newest three were sent.
  expect(await received("d0@example.com")).toEqual([]);
  for (const email of ["d1", "d2", "d3"].map((name) => `${name}@example.com`))
    expect(await received(email)).toMatchObject([{ key }]);
  expect((await find("d3@example.com"))["gaps"]).toEqual([]);
});

test("no lead gets the number of another one after a restore, here or on another machine", async () => {
  const { admin, send, find } = await aLedger();
  await admin.import(header + rows(0, 2));
  const file = await backUp(admin);
  await admin.import(header + rows(2, 4));
  await send();
  const other = anAdmin([]);
  for (const machine of [admin, other]) {
    expect((await machine.run("restore", file)).status).toBe(0);
    await machine.import(header + rows(4, 6));
    expect(await find("d5@example.com", machine)).toMatchObject({ received: [] });
  }
  const numbers = [admin, other].map(({ file: path }) => {
    using database = new Database(path);
    return database
      .query("SELECT number FROM stored_leads WHERE number > 2 ORDER BY number")
      .values()
      .flat()
      .map(Number);
  });
  expect(Math.min(...numbers.flat())).toBeGreaterThan(2 ** 32);
  expect(new Set(numbers.flat()).size).toBe(4);
  // A backup of the other branch comes back.
  const later = await backUp(other);
  await send(100, other);
  expect((await admin.run("restore", later)).status).toBe(0);
  expect(await find("d5@example.com")).toMatchObject({
    received: [],
    gaps: [{ reason: "restore" }, { reason: "restore" }],
  });
});

test("a key that was sent leads since the backup is lost, also if a newer backup knows it", async () => {
  const { admin, find } = await aLedger();
  await admin.import(header + rows(0, 2));
  const file = await backUp(admin);
  const { key } = (await admin.run("key", "create", "acme", "--json")).json;
  const store = openServedStore(admin.file);
  store.sent.note(store.keys.find(digestOf(key))?.number ?? 0, { numbers: [1], newestMs: 1 }, Date.now());
  await closed(store);
  await backUp(admin, "newer.db");
  expect((await admin.run("restore", file, "--json")).json).toMatchObject({ lost: { keys: 1 } });
  expect((await find("d0@example.com"))["received"]).toHaveLength(1);
});

test("a backup of a running server says nothing of a kill when it is restored", async () => {
  const { admin, find } = await aLedger();
  await admin.import(header + rows(0, 2));
  const store = openServedStore(admin.file);
  const file = await backUp(admin);
  await closed(store);
  expect((await admin.run("restore", file)).status).toBe(0);
  expect(await find("d1@example.com")).toMatchObject({ received: [], gaps: [] });
});
