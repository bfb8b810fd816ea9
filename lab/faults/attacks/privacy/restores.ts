/** Imports, erasures, retention, backups, and restores in any order: no lead is lost that should stay, and no byte of others is left. */
import { Database } from "bun:sqlite";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dayMs } from "../../../../src/contract/calendar.ts";
import { type CommandProcess, startCommands } from "../../../../test/support/command-process.ts";
import { filesWith } from "../../../../test/support/folder.ts";
import type { Random } from "../../../random.ts";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";

export const restores: Fault = {
  name: "restores",
  attack:
    "imports, replacements, erasures by ID, address, phone, and list, retention, backups, and restores in random order; rounds",
  promise:
    "exactly those leads are there that neither an erasure nor retention has removed, and no byte of the others is in the file",
  small: 4,
  full: 1000,
  breakages: [
    {
      name: "an erasure that leaves free pages as they are",
      patches: [
        { file: "src/db/open.ts", from: "PRAGMA secure_delete = ON", to: "PRAGMA secure_delete = OFF" },
        {
          file: "src/db/vacuum.ts",
          from: 'database.$client.run("VACUUM")',
          to: 'database.$client.run("SELECT 1")',
        },
      ],
    },
    broken(
      "a restore that repeats erasures by identifiers that they only derived",
      "src/backup/erasures.ts",
      '...formsIn("given")',
      '...formsIn("hashes")',
      { isSlow: true, times: 40 },
    ),
    broken(
      "a restore that repeats no erasure",
      "src/backup/erasures.ts",
      "if (!identifiersOf(lead).some(isErased)) continue;",
      "continue;",
      { isSlow: true, times: 20 },
    ),
  ],
  run,
};

const accounts = ["acme", "birch"] as const;
type AccountName = (typeof accounts)[number];
const operations = 14;
const hourMs = 3_600_000;

interface Lead {
  readonly account: AccountName;
  readonly id: string;
  readonly email: string;
  readonly phone: string;
  readonly ms: number;
  /** A text that no other lead has. */
  readonly mark: string;
}

/** An erasure as the model knows it. */
interface Erasure {
  readonly account: AccountName;
  /** The given identifiers. */
  readonly given: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
  /** Everything that blocks imports from then on. */
  readonly blocks: ReadonlySet<string>;
  readonly receipt: string;
}

/** A decision on how long the leads of an account are kept. Of several, the last one counts. */
interface Retention {
  readonly account: AccountName;
  readonly days: number;
  readonly atMs: number;
}

/** The contents of a file. */
interface State {
  readonly leads: readonly Lead[];
  readonly retentions: readonly Retention[];
  readonly erasures: readonly Erasure[];
}

interface Round {
  readonly commands: CommandProcess;
  readonly folder: string;
  readonly random: Random;
  readonly expect: Attack["expect"];
  state: State;
  nowMs: number;
  readonly backups: { readonly file: string; readonly state: State }[];
  readonly story: string[];
  /** All leads that were ever imported, with the values that they had. */
  readonly imported: Lead[];
}

async function run({ build, turns, expect }: Attack): Promise<Figures> {
  const commands = startCommands(build);
  const counts = { restores: 0, erasures: 0 };
  try {
    for (const { place, random } of turns()) {
      const nothing: State = { leads: [], retentions: [], erasures: [] };
      const nowMs = Date.parse("2026-05-20T12:00:00Z");
      const empty = { state: nothing, backups: [], story: [], imported: [] };
      const round: Round = { commands, folder: place, random, expect, nowMs, ...empty };
      for (const name of accounts) await admin(round, ["account", "create", name]);
      const steps = Array.from({ length: operations }, () =>
        random.pick([load, load, erase, erase, retain, backUp, backUp, restore, restore]),
      );
      for (const step of [load, backUp, ...steps, restore]) {
        await step(round);
        expectNoBytes(round);
        round.nowMs += hourMs;
      }
      counts.restores += round.story.filter((line) => line.startsWith("restore")).length;
      counts.erasures += round.state.erasures.length;
    }
  } finally {
    await commands.end();
  }
  return counts;
}

async function admin({ commands, folder, nowMs, story, expect }: Round, args: string[], input = "") {
  const environment = { DATABASE_PATH: join(folder, "leadfile.db"), HOME: folder, PATH: process.env["PATH"] ?? "" };
  const said = await commands.run({ args, folder, environment, input, nowMs });
  story.push(`${args.join(" ")}: ${said.status}`);
  // An import ends with 3 if it rejects rows that are older than the account keeps.
  expect(said.status === 0 || (said.status === 3 && args[1] === "import"), () => `${story.join("; ")}: ${said.stderr}`);
  return said;
}

/** Few addresses and phones, so that many persons share them. */
const anEmail = (random: Random) => `p${random.below(6)}@example.com`;
const aPhone = (random: Random) => `1555014200${random.below(6)}`;
const namesOf = ({ id, email, phone }: Lead) => [id, email, phone];
const isNamed = (lead: Lead, names: ReadonlySet<string>) => namesOf(lead).some((name) => names.has(name));

/** Returns true if a lead is not older than its account keeps. */
function isYoung({ account, ms }: Lead, { retentions }: State, nowMs: number): boolean {
  const last = retentions.findLast((one) => one.account === account);
  return last === undefined || ms >= nowMs - last.days * dayMs;
}

/** A person, and values that may need several pages of the file. */
function someValues(random: Random) {
  const mark = `mark${random.below(2 ** 31)}x${random.below(2 ** 31)}`;
  return { email: random.below(5) === 0 ? "" : anEmail(random), phone: aPhone(random), mark };
}

/** Imports new leads, and others that replace stored ones; those of blocked persons are left out. */
async function load(round: Round): Promise<void> {
  const { random, nowMs, state } = round;
  const account = random.pick(accounts);
  const added = Array.from({ length: 1 + random.below(6) }, (_, n): Lead => {
    const ms = nowMs - random.below(20) * dayMs - n - 1 - random.below(100_000) * 10;
    return { account, id: Bun.randomUUIDv7(), ms, ...someValues(random) };
  });
  const stored = state.leads.filter((lead) => lead.account === account && isYoung(lead, state, nowMs));
  const replacing = random.shuffle(stored).slice(0, random.below(3));
  const leads = [...added, ...replacing.map((lead) => ({ ...lead, ...someValues(random) }))];
  round.imported.push(...leads);
  const lines = leads.map(({ id, email, phone, ms, mark }) => {
    const texts = { name: mark, page_url: `https://example.com/${mark.repeat(1 + random.below(200))}` };
    return JSON.stringify({ id, email, phone, identified_at: new Date(ms).toISOString(), pixel_id: "px", ...texts });
  });
  const args = ["lead", "import", account, "-", "--create-pixels", "--on-duplicate", "replace", "--json"];
  const { stdout } = await admin(round, args, lines.join("\n"));
  const erasures = state.erasures.filter((one) => one.account === account);
  const kept = leads.filter(
    (lead) => isYoung(lead, state, nowMs) && !erasures.some(({ blocks }) => isNamed(lead, blocks)),
  );
  const { imported, replaced } = JSON.parse(stdout || "{}");
  const isRight = imported + replaced === kept.length;
  round.expect(
    isRight,
    () => `${round.story.join("; ")}: ${imported} imported, ${replaced} replaced, not ${kept.length}`,
  );
  const ids = new Set(kept.map(({ id }) => id));
  round.state = { ...state, leads: [...state.leads.filter(({ id }) => !ids.has(id)), ...kept] };
}

/** Erases a person by what a lead has, be it one that is there or not. */
async function erase(round: Round): Promise<void> {
  const { random, state, folder } = round;
  const account = random.pick(accounts);
  const leads = state.leads.filter((lead) => lead.account === account);
  const some = leads[random.below(Math.max(1, leads.length))];
  const way = random.pick(["email", "phone", "id", "list"] as const);
  const given = new Set(givenBy(way, some, random));
  const list = join(folder, "list.txt");
  writeFileSync(list, [...given].join("\n"));
  const by = way === "list" ? ["--list", list] : [`--${way}`, [...given][0] ?? ""];
  // As next to a server, the log stays when the command ends.
  using _other = random.below(2) === 0 ? new Database(join(folder, "leadfile.db")) : null;
  const { stdout } = await admin(round, ["lead", "erase", account, ...by]);
  const gone = leads.filter((lead) => isNamed(lead, given));
  // An erasure by ID also blocks the phone of the lead.
  const derived = gone.flatMap((lead) => (given.has(lead.id) ? namesOf(lead) : [lead.email]));
  const blocks = new Set([...given, ...derived].filter((name) => name !== ""));
  const removed = new Set(gone.map(({ id }) => id));
  const erasure = { account, given, removed, blocks, receipt: stdout };
  const left = state.leads.filter(({ id }) => !removed.has(id));
  round.state = { ...state, leads: left, erasures: [...state.erasures, erasure] };
  await compare(round, account);
}

function givenBy(way: "email" | "phone" | "id" | "list", lead: Lead | undefined, random: Random): string[] {
  if (way === "id") return [lead?.id ?? crypto.randomUUID()];
  if (way === "phone") return [lead?.phone ?? aPhone(random)];
  if (way === "email") return [lead?.email || anEmail(random)];
  return [anEmail(random), aPhone(random)];
}

async function retain(round: Round): Promise<void> {
  const { random, nowMs } = round;
  const account = random.pick(accounts);
  const days = random.pick([Number.POSITIVE_INFINITY, 5, 10, 15, 30]);
  await admin(round, ["retain", account, "--days", Number.isFinite(days) ? String(days) : "off", "--yes"]);
  const retentions = [...round.state.retentions, { account, days, atMs: nowMs }];
  round.state = applyRetention({ ...round.state, retentions }, nowMs);
}

/** Leaves out the leads that are older than their account keeps. */
function applyRetention(state: State, nowMs: number): State {
  return { ...state, leads: state.leads.filter((lead) => isYoung(lead, state, nowMs)) };
}

async function backUp(round: Round): Promise<void> {
  // In a folder of its own: a newer one next to it would repeat its erasures.
  const folder = join(round.folder, `backup-${round.backups.length}`);
  mkdirSync(folder);
  const file = join(folder, "copy.db");
  await admin(round, ["backup", file, "--drill"]);
  round.backups.push({ file, state: round.state });
}

/** Restores any backup over the old file, or on a machine that has nothing, with the receipts or without them. */
async function restore(round: Round): Promise<void> {
  const { random, state, folder, backups } = round;
  const backup = backups[random.below(backups.length)];
  if (backup === undefined) return;
  const way = random.pick(["over the old file", "over the old file", "with receipts", "with nothing"] as const);
  const receipts = join(folder, "receipts.ndjson");
  writeFileSync(receipts, state.erasures.map(({ receipt }) => receipt).join(""));
  if (way !== "over the old file")
    for (const name of readdirSync(folder)) if (name.startsWith("leadfile.db")) rmSync(join(folder, name));
  const args = ["restore", backup.file, "--yes", "--json"];
  await admin(round, way === "with receipts" ? [...args, "--receipts", receipts] : args);
  round.story.push(`(${way})`);
  const since = way === "with nothing" ? [] : state.erasures.filter((one) => !backup.state.erasures.includes(one));
  const isErased = (lead: Lead) =>
    since.some((one) => one.account === lead.account && (one.removed.has(lead.id) || isNamed(lead, one.given)));
  // Of two files, the one with the newer decision has the retention of an account.
  const known =
    way === "over the old file" ? [...backup.state.retentions, ...state.retentions] : backup.state.retentions;
  round.state = applyRetention(
    {
      leads: backup.state.leads.filter((lead) => !isErased(lead)),
      retentions: known.toSorted((one, other) => one.atMs - other.atMs),
      erasures: [...backup.state.erasures, ...since],
    },
    round.nowMs,
  );
  for (const account of accounts) await compare(round, account);
}

async function compare(round: Round, account: AccountName): Promise<void> {
  const { stdout } = await admin(round, ["lead", "export", account]);
  const there = new Set(stdout.split("\n").flatMap((line): string[] => (line === "" ? [] : [JSON.parse(line).id])));
  const wanted = new Set(round.state.leads.filter((lead) => lead.account === account).map(({ id }) => id));
  const [lost, back] = [wanted.difference(there).size, there.difference(wanted).size];
  const story = () => round.story.join("; ");
  round.expect(lost === 0, () => `${lost} leads lost of ${account}: ${story()}`);
  round.expect(back === 0, () => `${back} leads back in ${account}: ${story()}`);
}

/** Expects that the database has no text of leads that are not in it, nor of what they were before they were replaced. */
function expectNoBytes({ state, imported, folder, story, expect }: Round): void {
  const there = new Set(state.leads.map(({ id }) => id));
  const marks = imported.filter(({ id }) => !there.has(id)).map(({ mark }) => mark);
  const files = filesWith(folder, ...marks).filter((name) => !name.includes(".replaced-"));
  expect(files.length === 0, () => `bytes of erased leads are in ${files}: ${story.join("; ")}`);
}
