/** kill -9 of an import next to a server, its clients, and a backup: what is in stays in, and the next run completes it. */
import { Database } from "bun:sqlite";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../../test/support/eventually.ts";
import { betweenTransactions } from "../../../../test/support/write-lock.ts";
import type { Random } from "../../../random.ts";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";
import { ask, readPages, startClients } from "../../product/client.ts";
import { countOf, documentsOf, isWhole, look, prepareKeys } from "../../product/contents.ts";
import { admin, startAdmin, startServer } from "../../product/program.ts";

/** Enough for several transactions: each ends after some hundred rows when another program requests the lock. */
const rows = { min: 2500, max: 6000 };
const maxKills = 4;
const pollers = 3;

export const killImport: Fault = {
  name: "kill -9 of an import",
  attack: `a file of random size, order, and ties is imported next to ${pollers} clients, killed up to ${maxKills} times, and run again next to a backup; files`,
  promise:
    "clients that poll with since receive every lead, the re-run gives the same bytes, and the backup is restored",
  small: 3,
  full: 200,
  breakages: [
    broken(
      "an import that stumbles over what is in already",
      "src/import/write/batch.ts",
      "  record.counts[outcome.kind",
      "  if (outcome.kind === 'duplicate') throw new Error('twice');\n  record.counts[outcome.kind",
      { times: 1 },
    ),
    broken(
      "an import that begins with the newest lead",
      "src/import/write/staging.ts",
      "ORDER BY at IS NULL, at, place",
      "ORDER BY at IS NULL, at DESC, place",
      { times: 1 },
    ),
    broken(
      "a backup of the file without its log",
      "src/backup/backup.ts",
      "  const manifest = await describe(file, nowMs);\n",
      '  require("node:fs").copyFileSync(database.$client.filename, file);\n  const manifest = await describe(file, nowMs);\n',
      { times: 1 },
    ),
  ],
  run,
};

async function run({ build, turns, expect }: Attack): Promise<Figures> {
  const counts = { leads: 0, kills: 0, "kills that left a part": 0, polls: 0, "backups of a part": 0 };
  for (const { number, place, random } of turns()) {
    const [name, content] = aFile(number, random);
    const file = join(place, "leadfile.db");
    const [{ secret }] = prepareKeys(file, 50);
    writeFileSync(join(place, "export.csv"), content);
    const server = await startServer(build, file);
    const clients = Array.from({ length: pollers }, () => startPolling(server.url, secret));
    // As long as it reads the old state, what is written since stays in the log. Without it, the log is copied now and then.
    using reader = new Database(file, { readonly: true });
    if (number % 2 === 0) reader.run("BEGIN");
    countOf(reader);
    try {
      const turn = { build, place, file, random, clients, counts };
      await killOften({ ...turn, expect: (holds, otherwise) => expect(holds, () => `${name}: ${otherwise()}`) });
    } finally {
      await Promise.all(clients.map(({ end }) => end()));
      await server.end();
    }
  }
  return counts;
}

interface Scene extends Pick<Attack, "build" | "expect" | "file" | "random"> {
  readonly place: string;
  readonly clients: readonly ReturnType<typeof startPolling>[];
  readonly counts: Record<"leads" | "kills" | "kills that left a part" | "polls" | "backups of a part", number>;
}

async function killOften({ build, place, file, random, clients, counts, expect }: Scene): Promise<void> {
  const args = ["lead", "import", "acme", join(place, "export.csv"), "--pixel", "px", "--create-pixels"];
  const unkilled = join(place, "unkilled.db");
  look(file, (database) => database.run("VACUUM INTO ?", [unkilled]));
  const begunMs = performance.now();
  const first = await admin(build, unkilled, args);
  const durationMs = performance.now() - begunMs;
  expect(first.status === 0, () => `an import that nobody killed ended with ${first.status}: ${first.stderr}`);
  const expected = look(unkilled, documentsOf);
  // A poll that runs may have begun before.
  const polledAgain = () => Promise.all(clients.map(({ polled }) => polled(2)));

  let before = look(file, documentsOf);
  for (let left = 1 + random.below(maxKills); left > 0; left--) {
    const child = startAdmin(build, file, args);
    const enough = before.length + random.below(rows.min / 2);
    // The last kill may fall anywhere; most of that time passes before anything is written, so the others wait.
    if (left === 1 && counts.kills > 0) await Bun.sleep(random.next() * durationMs);
    else await holdUp(file, child, enough, polledAgain);
    child.kill("SIGKILL");
    const [stdout] = await Promise.all([child.stdout.text(), child.exited]);
    const [whole, now] = look(file, (database) => [isWhole(database), documentsOf(database)] as const);
    expect(whole, () => "the file is damaged");
    expect(new Set(before).isSubsetOf(new Set(now)), () => "leads are gone");
    expect(new Set(now).isSubsetOf(new Set(expected)), () => "there are leads that nobody sent");
    expect(stdout === "" || now.length === expected.length, () => `${now.length} are in, reported: ${stdout}`);
    counts.kills++;
    if (now.length > before.length && now.length < expected.length) counts["kills that left a part"]++;
    before = now;
  }

  const copy = join(place, "copy.db");
  const [again, backup] = await Promise.all([admin(build, file, args), admin(build, file, ["backup", copy])]);
  expect(again.status === 0, () => `the re-run ended with ${again.status}: ${again.stderr}`);
  expect(look(file, documentsOf).join("\n") === expected.join("\n"), () => "the re-run gave other bytes");
  const restored = join(place, "restored.db");
  const restore = await admin(build, restored, ["restore", copy]);
  const said = backup.stderr + restore.stderr;
  expect(backup.status === 0 && restore.status === 0, () => `a backup and its restore said: ${said}`);
  const kept = restore.status === 0 ? look(restored, documentsOf) : [];
  expect(new Set(before).isSubsetOf(new Set(kept)), () => "leads are gone from the backup");
  expect(new Set(kept).isSubsetOf(new Set(expected)), () => "there are leads in the backup that nobody sent");
  if (kept.length < expected.length) counts["backups of a part"]++;

  await polledAgain();
  for (const { received } of clients) {
    const isSame = new Set(expected).symmetricDifference(received).size === 0;
    expect(isSame, () => `a client received ${received.size} of ${expected.length} leads`);
  }
  counts.polls += clients.reduce((sum, { polls }) => sum + polls(), 0);
  counts.leads += expected.length;
}

/** Times within so many milliseconds, in turn: few make many ties, and with one alone, the oldest lead is the newest as well. */
const spansMs = [3_000_000, 1, 50, 3000] as const;

function aFile(number: number, random: Random): [name: string, content: string] {
  const count = rows.min + random.below(rows.max - rows.min);
  const spanMs = spansMs[number % spansMs.length] ?? spansMs[0];
  const order = random.pick(["newest first", "oldest first", "shuffled"]);
  const times = Array.from({ length: count }, () => Date.parse("2026-01-31T10:15:00Z") + random.below(spanMs));
  if (order !== "shuffled") times.sort((a, b) => (order === "oldest first" ? a - b : b - a));
  const lines = times.map((ms, row) => `${new Date(ms).toISOString()},d${row}@example.com`);
  return [`${count} rows within ${spanMs} ms, ${order}`, `identified_at,email\n${lines.join("\n")}\n`];
}

/** Keeps an import waiting for the lock once more leads than this are in, and does some work. Returns if the import ends before. */
async function holdUp(file: string, child: Bun.Subprocess, enough: number, work: () => Promise<unknown>) {
  for await (const { leads } of betweenTransactions(file, child.exited)) {
    if (leads <= enough) continue;
    await work();
    return;
  }
}

/** Polls as the README says: all pages since the newest lead that is known. */
function startPolling(url: string, key: string) {
  const received = new Set<string>();
  let since = "";
  const poll = async () => {
    const found = await readPages(`limit=100${since}`, (target) => ask(url, key, target));
    for (const lead of found) received.add(JSON.stringify(lead));
    if (found[0] !== undefined) since = `&since=${found[0].identified_at}`;
  };
  const { done, isOver, end } = startClients([poll], 5);
  return {
    received: received as ReadonlySet<string>,
    polls: () => done.length,
    /** Waits for so many more polls. */
    polled(more: number): Promise<void> {
      const enough = done.length + more;
      return until(() => done.length >= enough || isOver(), 1);
    },
    end,
  };
}
