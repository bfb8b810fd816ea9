/** The days of a simulated year, from the nightly backup to the last look at the usage. */
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dayMs } from "../../../../src/contract/calendar.ts";
import type { Random } from "../../../random.ts";
import { type Clock, createClock } from "./clock.ts";
import { account, backupAt, keptBackups, zone } from "./machine.ts";
import { timesIn, type Visit } from "./model.ts";
import type { Pollers, Scene } from "./pollers.ts";

/** An event every number of days, starting on a day that is counted from 0. */
type Event = readonly [every: number, from: number];

interface Plan {
  readonly startMs: number;
  /** For how many days leads are kept. */
  readonly keepDays: number;
  readonly events: Readonly<Record<"rotation" | "erasure" | "fullDisk" | "restore" | "upgrade", Event>>;
}

export const ofYear: Plan = {
  startMs: Date.parse("2026-12-01T00:00:00Z"),
  keepDays: 180,
  events: {
    rotation: [7, 3],
    erasure: [30, 5],
    fullDisk: [30, 12],
    restore: [91, 60],
    upgrade: [365, 182],
  },
};
/** One event of each kind in a week that includes New Year. */
export const ofWeek: Plan = {
  startMs: Date.parse("2026-12-28T00:00:00Z"),
  keepDays: 3,
  events: { rotation: [7, 1], erasure: [7, 2], fullDisk: [7, 3], upgrade: [7, 4], restore: [7, 5] },
};

export type Year = Awaited<ReturnType<typeof beginYear>>;

/** A copy of the file, a key in it, and an environment whose clock shows the time of the copy. */
export interface Served {
  readonly file: string;
  readonly secret: string;
  readonly environment: Clock["environment"];
}

const hourMs = 3_600_000;
const webhooksPerDay = 50;
const vendors = 5;
const rowsPerFile = 20;
const personsPerList = 5;
/** Within this time the server writes all counts, even if the clock jumped over hours. */
const settleMs = 250;

/** Starts all services and clients on a file of the first release. */
export async function beginYear(scene: Scene, pollers: Pollers, random: Random, plan: Plan) {
  const { machine } = scene;
  await machine.upgrade(machine.build, ["retain", account, "--days", String(plan.keepDays), "--yes"]);
  const source = await machine.admin(["source", "create", account, "--stamp", "source", "--json"]);
  await pollers.start();
  const year = {
    ...scene,
    pollers,
    random,
    plan,
    token: JSON.parse(source.stdout).token as string, // As docs/importing.md has it.
    counts: { leads: 0, kills: 0, "full disks": 0, backups: 0, restores: 0, "erased persons": 0 },
    /** The size of the file at the end of each day. */
    sizes: [] as number[],
    /** The leads in each stored backup, oldest first. */
    backups: new Map<string, ReadonlyMap<string, Visit>>(),
    /** The leads that were delivered during the last full disk. The backup of that night may have them. */
    pending: new Set<string>() as ReadonlySet<string>,
    /** The file on the day on which the first leads became too old. */
    settled: null as Served | null,
  };
  // A server without any backup makes the first one at once.
  await awaitBackup(year, 1_000);
  return year;
}

/** Returns whether an event happens on a day. */
function isDueOn(day: number, [every, from]: Event): boolean {
  return day >= from && (day - from) % every === 0;
}

export async function liveDay(year: Year, day: number): Promise<void> {
  const { clock, machine, model, pollers, random, plan } = year;
  const isDue = (event: keyof Plan["events"]) => isDueOn(day, plan.events[event]);
  const startMs = plan.startMs + day * dayMs;
  const at = (hours: number) => clock.passTo(startMs + hours * hourMs);
  const isDiskFull = isDue("fullDisk");
  // On the first day, the last backup is so young that one that is stopped may wait for the next night.
  const killed = isDiskFull || day === 0 ? null : random.pick(["backup", "webhooks", "file", "polls"]);
  const during = (phase: string, work: () => Promise<void>) => (phase === killed ? kill(year, work) : work());
  // Without an ID: what is posted again has the ID of its content.
  const visits = model.visits(webhooksPerDay, startMs - 4 * hourMs, startMs).map((visit) => ({ ...visit, id: null }));
  const rows = model.visits(rowsPerFile, startMs - dayMs, startMs);
  year.counts.leads += visits.length + rows.length;

  const toBackup = () => {
    at(6.51);
    const localTime = new Date(clock.now()).toLocaleTimeString("en-GB", { timeZone: zone });
    if (localTime < backupAt) at(7.51);
  };

  at(2);
  await Bun.sleep(settleMs);
  if (isDiskFull) await fillDisk(year, toBackup, visits, rows);
  else {
    toBackup();
    await during("backup", () => awaitBackup(year, 2_500));
    at(12);
    await during("webhooks", async () => void (await post(year, visits)));
    await during("file", () => {
      upload(year, rows);
      return imported(year);
    });
  }
  await imported(year);
  at(18);
  await during("polls", () => pollers.pollAll(day));
  at(20);
  await tryBackups(year, day);
  if (isDue("rotation")) await pollers.rotateKeys();
  if (isDue("erasure")) await erase(year);
  if (isDue("restore")) await goBack(year);
  if (isDue("upgrade")) await machine.upgrade(machine.nextBuild());
  at(22);
  await pollers.checkFollowers();
  await pollers.checkUsage();
  year.sizes.push(statSync(machine.file).size);
  if (day === plan.keepDays) year.settled = await copyOf(year, "settled");
}

export async function copyOf({ machine, clock, folder, pollers }: Year, name: string): Promise<Served> {
  const place = join(folder, name);
  mkdirSync(place);
  const file = join(place, "leadfile.db");
  await machine.admin(["backup", file]);
  return { file, secret: pollers.aSecret(), environment: createClock(place, clock.now()).environment };
}

/** Kills a process at any moment of some work, which goes on when it is started again. */
async function kill({ machine, pollers, random, counts }: Year, work: () => Promise<void>): Promise<void> {
  const service = random.pick(["server", "receive"] as const);
  // The server has children for the inbox and for backups, the endpoint one while it imports deliveries.
  const what = random.pick(["itself", "its children"] as const);
  const strike = async () => {
    await Bun.sleep(random.below(400));
    const killedMs = performance.now();
    await machine.kill(service, what);
    return [killedMs, performance.now()] as const;
  };
  const [times] = await Promise.all([strike(), work()]);
  counts.kills++;
  if (service === "server" && what === "itself") await pollers.checkUsage(times);
}

/** Waits for the backup of the night, while time passes in steps. */
async function awaitBackup(year: Year, stepMs: number): Promise<void> {
  const { clock, machine, model, expect, backups, counts } = year;
  const fresh = () => machine.backups().filter((name) => !backups.has(name));
  await clock.passUntil(() => fresh().length > 0, stepMs);
  expect(fresh().length === 1, () => `${fresh().length} backups were made in a night`);
  for (const name of fresh()) backups.set(name, new Map(model.leads));
  // A kill between the upload and the rotation leaves one more until the next night.
  const stored = machine.backups();
  const isRotated = stored.length >= Math.min(keptBackups, ++counts.backups) && stored.length <= keptBackups + 1;
  expect(isRotated, () => `${stored.length} backups are kept`);
  for (const name of backups.keys()) if (!stored.includes(name)) backups.delete(name);
}

/** Posts visits as vendors do, several at once and until they are accepted, or once. Returns those that were refused. */
async function post({ machine, model, token }: Year, visits: readonly Visit[], repeats = true): Promise<Visit[]> {
  const left = [...visits];
  const refused: Visit[] = [];
  const address = `${machine.urlOf("receive")}/in/${token}`;
  const send = async () => {
    for (let visit = left.pop(); visit !== undefined; visit = left.pop()) {
      const answer = await fetch(address, { method: "POST", body: JSON.stringify(visit) }).catch(() => null);
      if (answer?.status === 200) model.deliver([visit]);
      else {
        (repeats ? left : refused).push(visit);
        await Bun.sleep(50);
      }
    }
  };
  await Promise.all(Array.from({ length: vendors }, send));
  return refused;
}

/** Uploads a file with two more rows, which are left out: of a time that is not kept, and of an erased person. */
function upload({ clock, machine, model, plan, random }: Year, rows: readonly Visit[]): void {
  const nowMs = clock.now();
  const tooOldMs = nowMs - (plan.keepDays + 9) * dayMs;
  const dead = [...model.erased].slice(-1);
  const all = [
    ...rows,
    ...model.visits(1, tooOldMs, tooOldMs + dayMs),
    ...model.visits(dead.length, nowMs - dayMs, nowMs, () => dead[0] ?? null),
  ];
  const columns = ["id", "identified_at", "pixel_id", "email", "state", "city"] as const;
  const csv = [columns, ...all.map((row) => columns.map((column) => row[column] ?? ""))];
  const isCsv = random.below(2) === 0;
  const lines = isCsv ? csv.map((cells) => cells.join(",")) : all.map((row) => JSON.stringify(row));
  machine.upload(`visits-${Math.round(nowMs)}.${isCsv ? "csv" : "ndjson"}`, `${lines.join("\n")}\n`);
  model.deliver(rows);
}

async function imported({ clock, machine, expect }: Year): Promise<void> {
  const isImported = await clock.passUntil(() => !machine.isWaiting(), 3_000);
  expect(isImported, () => "what was delivered is not imported");
}

/** Fills the disk for a while: the file stays pending, vendors and the backup retry, and clients are served. */
async function fillDisk(year: Year, toBackup: () => void, visits: readonly Visit[], rows: readonly Visit[]) {
  year.pending = new Set([...rows, ...visits].map(({ identified_at }) => identified_at));
  upload(year, rows);
  const makeRoom = year.machine.fillDisk();
  toBackup();
  const refused = await post(year, visits, false);
  await year.pollers.checkUsage();
  await Bun.sleep(2 * settleMs);
  makeRoom();
  await imported(year);
  await awaitBackup(year, 60_000);
  await post(year, refused);
  year.counts["full disks"]++;
}

/** Restores the backup of this night on a machine that has nothing, and once a week an older one. */
async function tryBackups(year: Year, day: number): Promise<void> {
  const { clock, machine, model, random, folder, expect } = year;
  const names = machine.backups();
  const stored = [...year.backups].filter(([name]) => names.includes(name));
  const older = day % 7 === 6 ? [stored[random.below(stored.length)]] : [];
  for (const [name, of] of [stored.at(-1), ...older].filter((one) => one !== undefined)) {
    const other = join(folder, "other");
    mkdirSync(other);
    const restored = join(other, "leadfile.db");
    await machine.restore(name, restored);
    const { stdout } = await machine.admin(["lead", "export", account], restored);
    const { lost, back } = model.compare(timesIn(stdout), clock.now(), { of, pending: year.pending });
    expect(lost + back === 0, () => `${name} was restored without ${lost} leads, and with ${back} that must be gone`);
    year.counts.restores++;
    rmSync(other, { recursive: true });
  }
}

/** Erases persons by a list of addresses, and of digests of them. */
async function erase({ machine, model, random, folder, counts }: Year): Promise<void> {
  const emails = random.shuffle([...new Set([...model.leads.values()].flatMap(({ email }) => email ?? []))]);
  const persons = emails.slice(0, personsPerList);
  const digestOf = (email: string) => new Bun.CryptoHasher("sha256").update(email).digest("hex");
  const lines = [...persons.map((email, n) => (n < 2 ? digestOf(email) : email)), "nobody@example.com"];
  const list = join(folder, "erase.txt");
  writeFileSync(list, lines.join("\n"));
  await machine.admin(["lead", "erase", account, "--list", list]);
  for (const email of persons) model.erased.add(email);
  counts["erased persons"] += persons.length;
}

/** Returns to the backup of this night. Vendors deliver again what came since. */
async function goBack(year: Year): Promise<void> {
  const { machine, model } = year;
  const newest = [...year.backups].at(-1);
  if (newest === undefined) return;
  await machine.stop();
  await machine.restore(newest[0]);
  const since = model.restore(newest[1]);
  await machine.start();
  await year.pollers.takeUsage();
  const isPosted = ({ id }: Visit) => id === null;
  await post(year, since.filter(isPosted));
  upload(
    year,
    since.filter((visit) => !isPosted(visit)),
  );
  await imported(year);
  year.counts.restores++;
}
