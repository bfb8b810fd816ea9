/** bun admin restore: what was set, revoked, undone, erased, or deleted since the backup, and who must know it. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { dayMs } from "../../../src/contract/calendar.ts";
import { type Admin, anAdmin } from "../../support/admin.ts";
import { aSharedFolder } from "../../support/run.ts";
import { at, header, keyState, printed, rows } from "./a-backup.ts";

const startMs = Date.parse("2026-05-20T12:00:00Z");
const endMs = Date.parse("2026-05-20T18:00:00Z");
/** A database, and commands on it that follow one another by a minute. */
function startHistory() {
  const folder = aSharedFolder();
  const [database = "", older = "", newer = ""] = ["leadfile.db", "older.db", "newer.db"].map((name) =>
    join(folder, name),
  );
  const keys: Record<string, { key: string; id: string }> = {};
  let nowMs = startMs;
  /** Runs a command. The label of a key in brackets stands for its ID. */
  async function run(line: string, input = ""): Promise<string> {
    nowMs += 60_000;
    const words = line.split(" ").map((word) => keys[word.slice(1, -1)]?.id ?? word);
    const { status, stdout, stderr } = await at(nowMs, { file: database }).give(input, ...words);
    expect([line, status, status === 0 ? "" : stderr]).toEqual([line, 0, ""]);
    return stdout;
  }
  const createKey = async (account: string, label: string, options = "") => {
    keys[label] = JSON.parse(await run(`key create ${account} --label ${label} --json${options}`));
  };
  const importRows = (account: string, from: number, to: number) =>
    run(`lead import ${account} - --create-pixels`, header + rows(from, to));
  const eraseEach = async (...persons: readonly string[]) => {
    const receipts: string[] = [];
    for (const person of persons) receipts.push(await run(`lead erase acme --email ${person}@example.com`));
    return receipts;
  };
  /** Counts requests of the first key on the first days of the month. */
  const countRequests = (...requests: number[]) => {
    using file = new Database(database);
    // The thread of the backup may still be closing the file.
    file.run("PRAGMA busy_timeout = 5000");
    for (const [day, count] of requests.entries())
      file.run(`INSERT OR REPLACE INTO usage (key, day, requests) VALUES (1, '2026-05-0${day + 1}', ${count})`);
  };
  return { database, older, newer, keys, run, createKey, importRows, eraseEach, countRequests };
}

type History = ReturnType<typeof startHistory>;

/** Until the older backup. Returns the ID of the account that is deleted after it. */
async function untilOlder({ older, run, createKey, importRows, eraseEach, countRequests }: History): Promise<string> {
  for (const name of ["acme", "other"]) await run(`account create ${name}`);
  const gone = (await run("account create gone")).trim();
  for (const label of ["stays", "revoked"]) await createKey("acme", label);
  await createKey("acme", "rotated", " --expires 2099-01-31");
  await createKey("gone", "gone");
  await run("account deactivate other");
  await run("retain other --days 300");
  await importRows("acme", 0, 10);
  await importRows("acme", 10, 20);
  await importRows("gone", 0, 3);
  await eraseEach("d16", "d19");
  await run("lead unblock acme --email d16@example.com");
  countRequests(5, 7);
  await run(`backup ${older}`);
  return gone;
}

/** From the older backup to the newer one. Returns the receipts. */
async function untilNewer(history: History): Promise<string> {
  const { database, newer, run, createKey, importRows, eraseEach, countRequests } = history;
  await run("key revoke [revoked]");
  await run("key rotate [rotated]");
  for (const label of ["made", "made+revoked"]) await createKey("acme", label);
  await run("key revoke [made+revoked]");
  await run("account deactivate acme");
  await run("account activate other");
  await run("retain other --days off");
  // A wrong clock has dated the first of two settings later.
  await at(startMs + 3650 * dayMs, { file: database }).run("retain", "acme", "--days", "off");
  await run("retain acme --days 365");
  await run("import undo acme 1");
  await importRows("acme", 20, 25);
  await run("account create birch");
  const receipts = [await run("lead erase birch --email d1@example.com"), ...(await eraseEach("d16", "d17", "d18"))];
  for (const person of ["d18", "d19"]) await run(`lead unblock acme --email ${person}@example.com`);
  await createKey("gone", "gone-later");
  receipts.push(await run("account delete gone --yes"));
  for (const name of ["gone", "cedar", "dill"]) await run(`account create ${name}`);
  await createKey("gone", "new-gone");
  await createKey("cedar", "cedar");
  for (const label of ["new-gone", "cedar"]) await run(`key revoke [${label}]`);
  countRequests(3, 10, 20);
  await run(`backup ${newer}`);
  return receipts.join("");
}

/** A database with a long history, a backup from its middle, and one from its end. */
async function makeHistory() {
  const history = startHistory();
  const gone = await untilOlder(history);
  return { ...history, gone, receipts: await untilNewer(history) };
}

let history: ReturnType<typeof makeHistory> | null = null;
const theHistory = () => (history ??= makeHistory());

/** A machine with copies of some files of the history, by the names that they get. */
function aMachine(files: Readonly<Record<string, string>>): Admin {
  const machine = anAdmin([]);
  for (const [name, from] of Object.entries(files))
    for (const suffix of ["", ".manifest.json"])
      if (existsSync(from + suffix)) copyFileSync(from + suffix, join(machine.folder, name + suffix));
  return machine;
}

/**
 * What commands say after a restore if nothing is known of what was done since the backup, or if receipts, a newer backup, or
 * the replaced file know of it. In the last place, what they said at the end of the history.
 */
const facts: Readonly<Record<string, readonly unknown[]>> = {
  "subscription of acme": ["active", "active", "active", "active", "inactive"],
  "subscription of other": ["inactive", "inactive", "inactive", "inactive", "active"],
  "retention of acme": [undefined, undefined, 365, 365, 365],
  "retention of other": [300, 300, undefined, undefined, undefined],
  "key revoked": ["active", "active", "revoked", "revoked", "revoked"],
  "key rotated": ["active", "active", "active", "active", "active"],
  "end of rotated": ["2099-01-31", "2099-01-31", "2026-05-21", "2026-05-21", "2026-05-21"],
  "key made": ["unknown", "unknown", "unknown", "unknown", "active"],
  "key made+revoked": ["unknown", "unknown", "revoked", "revoked", "revoked"],
  "key gone": ["active", "revoked", "revoked", "revoked", "revoked"],
  "key gone-later": ["unknown", "revoked", "revoked", "revoked", "revoked"],
  "key new-gone": ["unknown", "unknown", "revoked", "revoked", "revoked"],
  "key cedar": ["unknown", "unknown", "revoked", "revoked", "revoked"],
  "account gone": ["old", undefined, "new", "new", "new"],
  "account birch": [undefined, undefined, "new", "new", "new"],
  "account cedar": [undefined, undefined, "new", "new", "new"],
  "account dill": [undefined, undefined, undefined, undefined, "new"],
  "requests of the month": [12, 12, 12, 12, 33],
  "lead d0, of an import undone since": [true, true, true, true, false],
  "lead d20, of an import since": [false, false, false, false, true],
  "lead d17, erased since": [true, false, false, false, false],
  "lead d18, erased and unblocked since": [true, false, false, false, false],
  "lead d10": [true, true, true, true, true],
  "blocked in acme": [1, 4, 2, 2, 2],
  "blocked in birch": [undefined, undefined, 1, 1, 1],
};

async function stateOf(machine: Pick<Admin, "file">) {
  const { keys, gone } = await theHistory();
  const admin = at(endMs, machine);
  const state: Record<string, unknown> = {};
  for (const { name, id, subscription, retain_days } of await printed(admin, "account", "list")) {
    state[`account ${name}`] = id === gone ? "old" : "new";
    state[`subscription of ${name}`] = subscription;
    state[`retention of ${name}`] = retain_days;
  }
  for (const [label, { key }] of Object.entries(keys)) state[`key ${label}`] = await keyState(admin, key);
  for (const { id, expires_at, requests_this_month } of await printed(admin, "key", "list", "acme")) {
    if (id === keys["rotated"]?.id) state["end of rotated"] = expires_at.slice(0, 10);
    if (id === keys["stays"]?.id) state["requests of the month"] = requests_this_month;
  }
  const there = new Set((await admin.leads()).map(({ email }) => email));
  for (const fact of Object.keys(facts).filter((name) => name.startsWith("lead ")))
    state[fact] = there.has(`${/d\d+/.exec(fact)?.[0]}@example.com`);
  for (const [account, again] of Object.entries({ acme: rows(16, 20), birch: rows(1, 2) })) {
    const ended = await admin.give(header + again, "lead", "import", account, "-", "--json", "--create-pixels");
    if (ended.status === 0) state[`blocked in ${account}`] = ended.json["suppressed"];
  }
  return state;
}

/** Expects the facts of a place in their lists. */
async function expectState(machine: Pick<Admin, "file">, place: number): Promise<void> {
  const state = await stateOf(machine);
  for (const [fact, values] of Object.entries(facts)) expect([fact, state[fact]]).toEqual([fact, values[place]]);
}

const actsOf = async (machine: Pick<Admin, "file">): Promise<string[]> =>
  (await printed(at(endMs, machine), "audit", "list")).map(({ act }: { act: string }) => act);

const ofReplaced = { leads: 16, lost: { leads: 5, imports: 1, keys: 2, accounts: 4 } };

test.each([
  ["nothing", 0, { leads: 21 }],
  ["receipts", 1, { leads: 16 }],
  ["a newer backup", 2, { leads: 16 }],
  ["the replaced file", 3, ofReplaced],
  ["the replaced file, and receipts of the time before an unblock", 3, ofReplaced],
])("what was done since the backup outlives a restore as far as it is known by %s", async (known, place, report) => {
  const { database, older, newer, receipts } = await theHistory();
  const machine = aMachine({
    ...{ "older.db": older },
    ...(known.includes("newer") ? { "newer.db": newer } : {}),
    ...(known.includes("replaced") ? { "leadfile.db": database } : {}),
  });
  const options = known.includes("receipts") ? ["--receipts", machine.put("receipts", receipts)] : [];
  const restoring = ["restore", join(machine.folder, "older.db"), "--json", ...options];
  const { json, stderr } = await at(endMs, machine).run(...restoring);
  expect(json).toMatchObject({ ...report, erased_again: place === 0 ? 0 : 2, retained_out: 0 });
  expect(stderr.includes("\nLeft out: 1 account deleted since the backup of ")).toBe(place > 0);
  expect(stderr.includes("No newer data was found on this machine. Erasures, revocations")).toBe(place === 0);
  if (place === 3) {
    expect(stderr).toContain("), revoked keys (4), expiries of keys (1), erasures (15), retention (2).");
    expect(await actsOf(machine)).toEqual(["restore", ...(await actsOf({ file: database }))]);
  }
  await expectState(machine, place);
});

test.each([
  ["an empty machine", {}],
  ["the old file", { "leadfile.db": "database" as const }],
])("after an older backup was restored on %s, a newer one restores everything of its time", async (_, files) => {
  const { older, newer, ...history } = await theHistory();
  const there = Object.entries(files).map(([name, from]) => [name, history[from]]);
  const machine = aMachine({ ...Object.fromEntries(there), "older.db": older });
  expect((await at(endMs, machine).run("restore", join(machine.folder, "older.db"))).status).toBe(0);
  const { json, stderr } = await at(endMs + 60_000, machine).run("restore", newer, "--json");
  // What was deleted or revoked is not lost.
  if (there.length === 0) expect(json["lost"]).toMatchObject({ keys: 0, accounts: 0 });
  expect(stderr).not.toMatch(/subscriptions|expiries|undone imports/);
  const imports = await printed(machine, "import", "list", "acme");
  expect(imports.map(({ state }: { state: string }) => state)).toEqual(["done", "done", "undone"]);
  await expectState(machine, 4);
});
