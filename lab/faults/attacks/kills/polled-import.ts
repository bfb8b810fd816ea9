/** An import in any order, killed and begun again, while clients poll: each of them meets every lead. */

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Lead } from "../../../../src/contract/lead.ts";
import type { Account } from "../../../../src/db/accounts.ts";
import { listBatches } from "../../../../src/db/imports.ts";
import type { AdminStore } from "../../../../test/support/admin-store.ts";
import { openAdminStore } from "../../../../test/support/admin-store.ts";
import type { Random } from "../../../random.ts";
import type { Attack, Fault, Figures } from "../../fault.ts";
import { makeAccount, makeKey } from "../../product/contents.ts";
import { startAdmin, startServer } from "../../product/program.ts";

const maxRows = 3000;
const maxKills = 2;
const pollers = 3;

export const polledImport: Fault = {
  name: "import beside pollers",
  attack: `a file of random size, order and ties is imported, killed up to ${maxKills} times and run again; files`,
  promise: `${pollers} clients that poll with since meet every lead that the export has, and no other`,
  small: 6,
  full: 1000,
  breakages: [
    {
      name: "an import that begins with the newest lead",
      isSlow: true,
      patches: [
        {
          file: "src/import/write/staging.ts",
          from: "ORDER BY at IS NULL, at, place",
          to: "ORDER BY at IS NULL, at DESC, place",
        },
      ],
    },
  ],
  run,
};

async function run({ build, file, turns, expect }: Attack): Promise<Figures> {
  const store = openAdminStore(file);
  const server = await startServer(build, file);
  const sums = { leads: 0, polls: 0, kills: 0 };
  for (const { number, place, random } of turns()) {
    const account = makeAccount(store, `run ${number}`);
    const { secret } = makeKey(store, account);
    const [name, content] = writeFile(random);
    const path = join(place, "export.csv");
    writeFileSync(path, content);
    let isOver = false;
    const watching = Array.from({ length: pollers }, (_, poller) =>
      poll(server.url, secret, random.branch(poller), () => isOver),
    );
    const args = ["lead", "import", account.id, path, "--pixel", "px", "--create-pixels"];
    const importing = () => startAdmin(build, file, args);
    const { status, kills } = await importAtLast({ store, file, account, random, importing });
    isOver = true;
    const seen = await Promise.all(watching);
    const leads = [...store.leads.export(account.number)].flat().toSorted().join("\n");
    expect(status === 0 && leads !== "", () => `${name}: the import ended with ${status}`);
    for (const { met } of seen) {
      const missed = leads.split("\n").length - met.size;
      expect([...met].toSorted().join("\n") === leads, () => `${name}: a client missed ${missed} leads`);
    }
    sums.leads += seen[0]?.met.size ?? 0;
    sums.polls += seen.reduce((sum, { polls }) => sum + polls, 0);
    sums.kills += kills;
  }
  await server.end();
  store.close();
  return sums;
}

/** Times within so many milliseconds: few make many ties. */
const spansMs = [1, 50, 3000, 3_000_000] as const;

function writeFile(random: Random): [name: string, content: string] {
  const rows = 1 + random.below(maxRows);
  const spanMs = random.pick(spansMs);
  const order = random.pick(["newest first", "oldest first", "shuffled"]);
  const times = Array.from({ length: rows }, () => Date.parse("2026-01-31T09:15:00Z") + random.below(spanMs));
  if (order !== "shuffled") times.sort((a, b) => (order === "oldest first" ? a - b : b - a));
  const lines = times.map((ms, row) => `${new Date(ms).toISOString()},d${row}@example.com`);
  return [`${rows} rows within ${spanMs} ms, ${order}`, `identified_at,email\n${lines.join("\n")}\n`];
}

interface Importing {
  readonly store: AdminStore;
  readonly file: string;
  readonly account: Account;
  readonly random: Random;
  readonly importing: () => ReturnType<typeof startAdmin>;
}

/** Imports until one comes to its end. Somebody asks for the lock now and then, so that transactions are of any size. */
async function importAtLast({ store, file, account, random, importing }: Importing) {
  const kills = random.below(maxKills + 1);
  const imported = () =>
    listBatches(store.database.read, account.number).reduce((sum, batch) => sum + batch.imported, 0);
  for (let turn = 0; ; turn++) {
    const enough = imported() + random.below(maxRows / 3);
    const child = importing();
    let isOver = false;
    const exited = child.exited.finally(() => (isOver = true));
    while (!isOver) {
      if (existsSync(`${file}.asking`)) store.accounts.setActive(account.number, true, Date.now());
      if (turn < kills && imported() > enough) child.kill("SIGKILL");
      await Bun.sleep(random.below(20));
    }
    const status = await exited;
    if (child.signalCode !== "SIGKILL") return { status, kills: turn };
  }
}

/** Polls as the README says: all pages since the newest lead that is known, and once more when it is over. */
async function poll(url: string, key: string, random: Random, isOver: () => boolean) {
  const met = new Set<string>();
  let newest: string | null = null;
  for (let polls = 1; ; polls++) {
    const isLast = isOver();
    const found: Lead[] = await pagesSince(url, key, newest);
    for (const lead of found) met.add(JSON.stringify(lead));
    newest = found[0]?.identified_at ?? newest;
    if (isLast) return { met, polls };
    await Bun.sleep(random.below(40));
  }
}

/** All leads since a moment, newest first. */
async function pagesSince(url: string, key: string, since: string | null): Promise<Lead[]> {
  const leads: Lead[] = [];
  for (let before: string | null = null; ; ) {
    const query = new URLSearchParams({ limit: "100", ...(since && { since }), ...(before && { before }) });
    const answer = await fetch(`${url}/api/v1/leads?${query}`, { headers: { Authorization: `Bearer ${key}` } });
    if (!answer.ok) throw new Error(`a poll was answered with ${answer.status}`);
    const page = (await answer.json()) as { data: Lead[]; next_cursor: string | null }; // As §4.1 promises.
    leads.push(...page.data);
    if (page.next_cursor === null) return leads;
    before = page.next_cursor;
  }
}
