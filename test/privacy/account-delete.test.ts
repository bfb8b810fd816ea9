/** bun admin account delete: an account ends, with every byte of it, and its keys stay revoked. */
import { expect, onTestFinished, test } from "bun:test";
import { appendFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { digestOf } from "../../src/contract/key.ts";
import { type Account, listAccounts } from "../../src/db/accounts.ts";
import { readLeadGroups } from "../../src/db/all-leads.ts";
import { emptyCounts } from "../../src/import/new-lead.ts";
import { importerOn } from "../../src/import/write/import.ts";
import { deleteAccount } from "../../src/privacy/delete-account.ts";
import { openServedStore } from "../../src/server/store.ts";
import { origin } from "../db/importing.ts";
import { anAdmin } from "../support/admin.ts";
import { aLead, newLead, noonMs } from "../support/builders.ts";
import { aKey, anAccount, copyLead, documentsOf, openTestDatabase } from "../support/database.ts";
import { aFolder, filesWith } from "../support/folder.ts";

const rows = "pixel_id,email\npx,dana@example.com\npx,robin@example.com\n";

/** An account with everything that an account can have, next to another one. */
async function aFullAccount() {
  const admin = anAdmin(["acme", "other"]);
  await admin.import(rows);
  await admin.run("lead", "import", "other", admin.put("other.csv", rows), "--create-pixels");
  const { json } = await admin.run("key", "create", "acme", "--json");
  await admin.run("source", "create", "acme");
  await admin.run("lead", "erase", "acme", "--email", "dana@example.com");
  await admin.run("retain", "acme", "--days", "30000");
  return { admin, key: String(json["key"]) };
}

test("a deleted account leaves no byte of its leads, and its key is revoked", async () => {
  const { admin, key } = await aFullAccount();
  const [{ id }] = JSON.parse((await admin.run("account", "list", "--json")).stdout);
  await admin.run("lead", "erase", "other", "--email", "robin@example.com");
  const { status, stdout } = await admin.run("account", "delete", "acme", "--yes", "--json");
  expect([status, JSON.parse(stdout)]).toEqual([0, { id, name: "acme", leads: 1 }]);
  expect(filesWith(admin.folder, "robin@example.com").filter((file) => !file.endsWith(".csv"))).toEqual([]);
  const accounts = JSON.parse((await admin.run("account", "list", "--json")).stdout);
  expect(accounts).toMatchObject([{ name: "other" }]);
  expect(JSON.parse((await admin.give(key, "key", "check", "--json")).stdout)).toEqual({ state: "revoked" });
  const receipt = JSON.parse((await admin.run("receipt", "list", id)).stdout);
  expect(receipt).toEqual({ deleted_at: expect.any(String), account: id, leads: 1, keys: [expect.any(String)] });
  const audit = await admin.run("audit", "list", "--account", "other", "--json");
  expect(audit.stdout).not.toContain("account.delete");
  expect((await admin.run("audit", "list", "--json")).stdout).toContain('"act":"account.delete"');
});

test("an import that began before its account was deleted writes nothing", async () => {
  const database = openTestDatabase(join(aFolder(), "leadfile.db"));
  onTestFinished(() => database.close());
  const deleted = anAccount(database);
  const staged = importerOn(database.read)(deleted, { onDuplicate: "skip", createPixels: true }, origin);
  staged.add(newLead(aLead()));
  for await (const _ of deleteAccount(database, deleted, noonMs));
  const merging = staged.merge({ counts: emptyCounts(), layout: null }, () => noonMs);
  await expect(merging.next()).rejects.toThrow(`Account ${deleted.id} was deleted during the import`);
  staged.close();
  expect(documentsOf(database, deleted.number)).toEqual([]);
});

test("an export that began before its account was deleted has no lead of the next account", async () => {
  const database = openTestDatabase(join(aFolder(), "leadfile.db"));
  onTestFinished(() => database.close());
  const [kept, deleted] = [anAccount(database), anAccount(database, { leads: [aLead()] })];
  const exporting = readLeadGroups(database.read, deleted.number);
  expect(exporting.next().value).toHaveLength(1);
  for await (const _ of deleteAccount(database, deleted, noonMs));
  const next = anAccount(database, { leads: [aLead({ identified_at: new Date(noonMs).toISOString() })] });
  expect(exporting.next().done).toBe(true);
  for await (const _ of deleteAccount(database, next, noonMs));
  const numbers = [kept, deleted, next, anAccount(database)].map(({ number }) => number);
  expect(new Set(numbers).size).toBe(4);
});

test("a key that is created after an account was deleted gets no request of a deleted key", async () => {
  const database = openTestDatabase(join(aFolder(), "leadfile.db"));
  onTestFinished(() => database.close());
  const [kept, deleted] = [anAccount(database), anAccount(database)];
  const numbersOf = (...some: readonly Account[]) => {
    for (const account of some) aKey(database, account);
    return database.read.$client.query("SELECT number FROM keys").values().flat();
  };
  const before = numbersOf(kept, deleted, deleted);
  for await (const _ of deleteAccount(database, deleted, noonMs));
  const [, added] = numbersOf(kept);
  expect(before).not.toContain(added);
});

test("account delete that is run again after a kill counts all leads", async () => {
  const admin = anAdmin();
  await admin.import("pixel_id,email\npx,d0@example.com\n");
  copyLead(admin, 2_999);
  const database = openTestDatabase(admin.file);
  const [account] = listAccounts(database.read);
  // Other programs request the lock all the time, so the first transaction ends soon.
  const requests = setInterval(() => appendFileSync(`${admin.file}.asking`, "."), 1);
  const steps = deleteAccount(database, account as Account, Date.now());
  expect((await steps.next()).value).toBeLessThan(3000);
  clearInterval(requests);
  database.close();
  expect((await admin.run("account", "delete", "acme", "--yes", "--json")).json).toMatchObject({ leads: 3000 });
});

test("account delete after an account was activated again counts the leads that are left", async () => {
  const admin = anAdmin();
  await admin.import("pixel_id,email\npx,d1@example.com\npx,d2@example.com\n");
  const database = openTestDatabase(admin.file);
  const [account] = listAccounts(database.read);
  await deleteAccount(database, account as Account, Date.now()).next();
  database.close();
  await admin.run("account", "activate", "acme");
  await admin.import("pixel_id,email\npx,d3@example.com\n");
  const left = (await admin.leads()).length;
  expect((await admin.run("account", "delete", "acme", "--yes", "--json")).json).toMatchObject({ leads: left });
});

test("deliveries to a deleted account are deleted, whether they wait or failed", async () => {
  const { admin } = await aFullAccount();
  await admin.run("source", "create", "other");
  const sourceOf = async (account: string): Promise<string> =>
    JSON.parse((await admin.run("source", "list", account, "--json")).stdout)[0].id;
  const [ended, kept] = [await sourceOf("acme"), await sourceOf("other")];
  for (const path of [`${ended}/2.part`, `${ended}/failed/3.ndjson`, `${kept}/1.ndjson`])
    admin.put(`leadfile.db.spool/${path}`, "gale@example.com\n");
  expect((await admin.run("account", "delete", "acme", "--yes")).status).toBe(0);
  expect(readdirSync(`${admin.file}.spool`)).toEqual([kept]);
});

test("an account of the same name can be created again, and starts empty", async () => {
  const { admin } = await aFullAccount();
  await admin.run("account", "delete", "acme", "--yes");
  expect((await admin.run("account", "create", "acme")).status).toBe(0);
  expect(await admin.leads()).toEqual([]);
  // Its blocks went with it.
  expect((await admin.import(rows)).json).toMatchObject({ imported: 2, suppressed: 0 });
});

test("without a terminal, account delete requires --yes", async () => {
  const { admin } = await aFullAccount();
  const { status, stderr } = await admin.run("account", "delete", "acme");
  expect([status, stderr]).toEqual([1, expect.stringContaining("pass --yes.")]);
  expect(await admin.leads()).toHaveLength(1);
});

test("what a server still has to write of a deleted key holds up nothing of the other keys", async () => {
  const { admin, key } = await aFullAccount();
  const { key: other } = (await admin.run("key", "create", "other", "--json")).json;
  const store = openServedStore(admin.file);
  const page = { numbers: [1], newestMs: 2 };
  for (const secret of [key, other]) {
    const number = store.keys.find(digestOf(secret))?.number ?? 0;
    store.usage.count(number, Date.now());
    store.sent.note(number, page, Date.now());
  }
  expect((await admin.run("account", "delete", "acme", "--yes")).status).toBe(0);
  await store.close();
  const [listed] = JSON.parse((await admin.run("key", "list", "other", "--json")).stdout);
  expect(listed).toMatchObject({ requests_this_month: 1, read_up_to: "1970-01-01T00:00:00.002Z" });
});
