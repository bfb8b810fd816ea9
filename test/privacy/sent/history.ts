/**
 * A history of one account, and a model that logs every response of its server: pages, imports, undos, erasures, restores, kills, and
 * moved clocks. Whatever the ledger says of a lead must be what the log says, or a gap must name the time.
 */
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { pino } from "pino";
import { createApp } from "../../../src/api/app.ts";
import { createLimiter } from "../../../src/api/limiter.ts";
import { openBackups } from "../../../src/backup/restore.ts";
import { dayMs, dayOf, oldestKeptMs } from "../../../src/contract/calendar.ts";
import type { Lead } from "../../../src/contract/lead.ts";
import { formatTime } from "../../../src/contract/time.ts";
import { type Account, listAccounts } from "../../../src/db/accounts.ts";
import type { LeadDatabase } from "../../../src/db/connection.ts";
import { listImports } from "../../../src/db/imports.ts";
import { undoImport } from "../../../src/import/write/undo.ts";
import { Erasure } from "../../../src/privacy/erase.ts";
import type { PersonalData } from "../../../src/privacy/find.ts";
import type { PersonReference } from "../../../src/privacy/identifiers.ts";
import { applyRetention } from "../../../src/privacy/retention.ts";
import { liftBlocks } from "../../../src/privacy/suppressions.ts";
import { openServedStore, type ServedStore } from "../../../src/server/store.ts";
import { imported } from "../../db/importing.ts";
import { aLead, newLead, noonMs } from "../../support/builders.ts";
import { aKey, anAccount, documentsOf, openTestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { held, retain } from "../../support/privacy.ts";

const pixels = ["px_site", "px_shop"] as const;
const states = ["CA", "NY", null] as const;

type Kind =
  | ("page" | "import" | "again" | "undo" | "erase" | "unblock" | "retain" | "restart" | "kill")
  | ("backup" | "restore" | "elsewhere" | "clock" | "daily" | "flush");

/** The kinds of acts. Pages are more frequent than any other. */
export const kinds: readonly [Kind, ...Kind[]] = [
  ...(["page", "page", "page", "page", "page", "page", "import", "again", "undo", "erase", "unblock"] as const),
  ...(["retain", "restart", "kill", "backup", "restore", "elsewhere", "clock", "daily", "flush"] as const),
];

/** One act, with two numbers that choose among the possible ones. */
export interface Act {
  readonly kind: Kind;
  readonly x: number;
  readonly y: number;
}

/** A lead that a key was sent. */
interface Sent {
  readonly key: string;
  readonly day: string;
  readonly atMs: number;
}

/** The facts that the ledger of a file must have, by the ID of a lead. */
interface Known {
  /** Who was sent a lead while the ledger was kept. */
  readonly recorded: Map<string, Sent[]>;
  /** Who was sent it in a time that a gap must name. */
  readonly unrecorded: Map<string, Sent[]>;
  /** The erasures, each with the ID of its lead. */
  readonly erasures: Map<number, string>;
  /** Who was sent a lead before it was forgotten. */
  readonly forgotten: Map<string, Sent[]>;
  /**
   * Who was sent a lead before one file forgot it that a restore has merged with another one, which still had the lead under the same
   * number: the ledger may name these keys again. They were sent it.
   */
  readonly mayReturn: Map<string, Sent[]>;
}

interface BackupOfHistory {
  readonly file: string;
  readonly known: Known;
}

const add = (to: Map<string, Sent[]>, id: string, sent: Sent) => to.getOrInsertComputed(id, () => []).push(sent);

function merged(one: Known["recorded"], other: Known["recorded"]): Known["recorded"] {
  const all = structuredClone(one);
  for (const [id, some] of other) {
    const known = new Set((all.get(id) ?? []).map((sent) => JSON.stringify(sent)));
    for (const sent of some) if (!known.has(JSON.stringify(sent))) add(all, id, sent);
  }
  return all;
}

/** A difference between the ledger and the log for one lead. */
export type Difference = string;

export class History {
  #path: string;
  #database: LeadDatabase;
  #account: Account;
  readonly #keys: readonly { readonly secret: string; readonly id: string }[];
  #store: ServedStore | null = null;
  #app: ReturnType<typeof appOf> | null = null;
  #keepsLedger = true;
  #trueMs = noonMs;
  #clockOffMs = 0;
  #machines = 1;
  #erasures = 0;
  #retainDays: number | null = null;
  #known: Known = {
    ...{ recorded: new Map(), unrecorded: new Map(), erasures: new Map() },
    ...{ forgotten: new Map(), mayReturn: new Map() },
  };
  /** The pages that were sent and are not in the ledger yet. */
  #pending: { readonly id: string; readonly sent: Sent }[] = [];
  readonly #leads = new Map<string, Lead>();
  readonly #backups: BackupOfHistory[] = [];
  /** Nothing happened yet that a gap must name. */
  #isUndisturbed = true;
  #hasMovedClock = false;
  readonly differences: Difference[] = [];
  readonly counts = { pages: 0, sent: 0, unrecorded: 0, compared: 0 };

  constructor(readonly folder: string) {
    this.#path = join(folder, "machine-1", "leadfile.db");
    mkdirSync(dirname(this.#path));
    this.#database = openTestDatabase(this.#path);
    this.#account = anAccount(this.#database, { pixels: pixels.map((id) => ({ id, status: "active" })) });
    this.#keys = [0, 1, 2].map(() => aKey(this.#database, this.#account));
    this.#start();
  }

  readonly #now = () => this.#trueMs + this.#clockOffMs;

  /** Does one act. Between two acts, a server has the time to write what it has sent, unless it is killed. */
  async act({ kind, x, y }: Act): Promise<void> {
    const isAtOnce = ["page", "kill", "backup", "erase", "undo"].includes(kind);
    if (!isAtOnce) this.#flush();
    this.#trueMs += isAtOnce ? 1 + (y % 20) : y % (dayMs / 4);
    await this.#acts[kind](x, y);
  }

  readonly #acts: Readonly<Record<Act["kind"], (x: number, y: number) => Promise<void>>> = {
    page: async (x, y) => {
      for (let page = 0; page < 4; page++) await this.#page(x + page, y + 37 * page);
    },
    import: (x, y) => this.#import(this.#newLeads(1 + (x % 40), y), false),
    again: (x, y) => this.#again(x, y),
    undo: (x, y) => this.#undo(x, y),
    erase: (x, y) => this.#erase(x, y),
    unblock: (x) => this.#unblock(x),
    retain: (x) => this.#retain(x),
    restart: async (x) => {
      await this.#stop();
      this.#start(x % 3 > 0);
    },
    kill: async (x) => {
      await this.#kill();
      if (x % 2 === 0) this.#trueMs += dayMs;
      this.#start();
    },
    backup: () => this.#backUp(),
    restore: (x) => this.#restore(x, "here"),
    elsewhere: (x) => this.#restore(x, "elsewhere"),
    clock: async (x) => {
      this.#isUndisturbed = false;
      this.#hasMovedClock = true;
      this.#clockOffMs = [-2 * dayMs, 2 * dayMs, -500 * dayMs, 0][x % 4] ?? 0;
    },
    daily: async () => {
      if (this.#retainDays !== null) return;
      await this.#withoutServer(() => applyRetention(this.#database, this.#now()));
    },
    flush: async () => {},
  };

  async #page(x: number, y: number): Promise<void> {
    const key = this.#keys[x % this.#keys.length];
    if (this.#app === null || key === undefined) return;
    const asked = new URLSearchParams({ limit: String(1 + (y % 15)) });
    const leads = [...this.#leads.values()];
    const before = leads[y % Math.max(1, leads.length)];
    if (x % 5 < 2 && before !== undefined) asked.set("before", before.identified_at);
    if (x % 7 === 0) asked.set("state", "CA");
    if (x % 11 === 0) asked.set("pixel_id", pixels[0]);
    const atMs = this.#now();
    const headers = { Authorization: `Bearer ${key.secret}` };
    const answer = await this.#app.fetch(new Request(`http://localhost/api/v1/leads?${asked}`, { headers }));
    const { data } = (await answer.json()) as { data: Lead[] }; // The tests of the API hold the shape.
    this.counts.pages++;
    for (const { id } of data) {
      const sent = { key: key.id, day: dayOf(atMs), atMs };
      this.counts.sent++;
      if (this.#keepsLedger) this.#pending.push({ id, sent });
      else add(this.#known.unrecorded, id, sent);
    }
  }

  #newLeads(count: number, y: number): Lead[] {
    return Array.from({ length: count }, (_, n) => {
      // Each has its own millisecond, so that no tie moves it.
      const ms = this.#trueMs - ((y * 7_919 + n * 104_729) % (60 * dayMs)) - 1_000;
      const state = states[n % states.length] ?? null;
      const email = `p${this.#leads.size + n}@example.com`;
      const pixel = pixels[n % pixels.length] ?? pixels[0];
      return aLead({ identified_at: formatTime(ms), pixel_id: pixel, state, email, verified_email: null, phone: null });
    });
  }

  async #import(leads: readonly Lead[], replaces: boolean): Promise<void> {
    for (const lead of leads) this.#leads.set(lead.id, lead);
    const options = { onDuplicate: replaces ? "replace" : "skip", createPixels: false, dryRun: false } as const;
    await imported(this.#database, this.#account, leads.map(newLead), { options, now: this.#now });
  }

  /** Leads are imported again, some of which are stored, undone, lost, or erased. */
  async #again(x: number, y: number): Promise<void> {
    const all = [...this.#leads.values()];
    const some = all.slice(x % Math.max(1, all.length)).slice(0, 1 + (y % 60));
    await this.#import(
      some.map((lead) => ({ ...lead, state: y % 2 === 0 ? lead.state : "NY" })),
      y % 3 === 0,
    );
  }

  async #undo(x: number, y: number): Promise<void> {
    const all = listImports(this.#database.read, this.#account.number);
    const undoable = all.filter(({ overwritten, undoneMs }) => overwritten === 0 && undoneMs === null);
    // Mostly the newest one: its numbers are those that SQLite would use again.
    const one = undoable[x % Math.max(1, Math.min(2, undoable.length))];
    if (one === undefined) return;
    const undo = async () => {
      for await (const _ of undoImport(this.#database, this.#account, one, () => this.#now()));
    };
    if (y % 5 > 0) return await this.#withoutServer(undo);
    // The server writes what it has sent while the undo waits for it.
    const timer = setInterval(() => this.#flush(), 300);
    await undo().finally(() => clearInterval(timer));
  }

  async #erase(x: number, y: number): Promise<void> {
    const all = [...this.#leads.values()];
    const lead = all[x % Math.max(1, all.length)];
    if (lead === undefined) return;
    const byEmail = y % 2 === 0 && this.#stored().has(lead.id) && lead.email !== null;
    const person: PersonReference = byEmail
      ? { kind: "email", value: lead.email ?? "" }
      : { kind: "id", value: lead.id };
    const search = { withMentions: false, onRead: () => {} };
    const erasure = new Erasure(this.#database, this.#account, [person], search, this.#now());
    for await (const _ of erasure.steps());
    this.#flush();
    const expected = this.#expected(lead.id);
    const [erased] = await erasure.complete();
    const { received } = JSON.parse(erased?.receipt ?? "{}");
    this.#expectEqual(`the receipt of ${lead.id}`, daysOf(received), expected, this.#expected(lead.id, "may return"));
    this.#forget(lead.id);
    this.#known.erasures.set(++this.#erasures, lead.id);
  }

  async #unblock(x: number): Promise<void> {
    const erased = [...this.#known.erasures.values()];
    const lead = this.#leads.get(erased[x % Math.max(1, erased.length)] ?? "");
    if (lead === undefined) return;
    await liftBlocks(this.#database, this.#account, { kind: "id", value: lead.id }, this.#now());
    await liftBlocks(this.#database, this.#account, { kind: "email", value: lead.email ?? "" }, this.#now());
  }

  async #retain(x: number): Promise<void> {
    this.#retainDays = x % 3 === 0 ? 20 + (x % 30) : null;
    await retain(this.#database, this.#account, this.#retainDays, this.#now());
    this.#forgetOlder();
  }

  #forgetOlder(): void {
    const oldestMs = oldestKeptMs(this.#retainDays, this.#now());
    for (const { id, identified_at } of this.#leads.values())
      if (Date.parse(identified_at) < oldestMs) this.#forget(id);
  }

  #forget(id: string): void {
    for (const sent of this.#known.recorded.get(id) ?? []) add(this.#known.forgotten, id, sent);
    this.#known.mayReturn.delete(id);
    this.#known.recorded.delete(id);
    this.#known.unrecorded.delete(id);
    this.#pending = this.#pending.filter((one) => one.id !== id);
  }

  #start(keepsLedger = this.#keepsLedger): void {
    this.#keepsLedger = keepsLedger;
    if (!keepsLedger) this.#isUndisturbed = false;
    this.#store = openServedStore(this.#path, keepsLedger, this.#now);
    this.#app = appOf(this.#store, this.#now);
  }

  #flush(): void {
    if (this.#store === null) return;
    while (this.#store.flush() !== "idle");
    this.#recordPending();
  }

  #recordPending(): void {
    for (const { id, sent } of this.#pending) add(this.#known.recorded, id, sent);
    this.#pending = [];
  }

  async #stop(): Promise<void> {
    await this.#store?.close();
    this.#recordPending();
    this.#store = null;
    this.#app = null;
  }

  async #withoutServer(work: () => Promise<unknown>): Promise<void> {
    await this.#stop();
    await work();
    this.#start();
  }

  /** Goes on with the file as it is on the disk, as after kill -9. */
  async #kill(): Promise<void> {
    this.#isUndisturbed = false;
    const killed = this.#path;
    this.#path = this.#aMachine();
    for (const suffix of ["", "-wal", ".gap"])
      if (existsSync(killed + suffix)) copyFileSync(killed + suffix, this.#path + suffix);
    for (const { id, sent } of this.#pending) add(this.#known.unrecorded, id, sent);
    this.#pending = [];
    await this.#stop();
    this.#reopen();
  }

  #aMachine(): string {
    const folder = join(this.folder, `machine-${++this.#machines}`);
    mkdirSync(folder);
    return join(folder, "leadfile.db");
  }

  #reopen(): void {
    this.#database.read.$client.close(true);
    this.#database = openTestDatabase(this.#path);
    const found = listAccounts(this.#database.read).find(({ id }) => id === this.#account.id);
    if (found === undefined) throw new Error("the account is not in the file");
    this.#account = found;
    this.#retainDays = found.retainDays;
  }

  async #backUp(): Promise<void> {
    const folder = join(this.folder, `backup-${this.#backups.length}`);
    mkdirSync(folder);
    const file = join(folder, "backup.db");
    await openBackups(this.#path).make(file, this.#now(), AbortSignal.timeout(60_000));
    this.#backups.push({ file, known: structuredClone(this.#known) });
  }

  /** Restores a backup over the file, or on another machine, which has none. */
  async #restore(x: number, where: "here" | "elsewhere"): Promise<void> {
    const backup = this.#backups[x % Math.max(1, this.#backups.length)];
    if (backup === undefined) return await this.#backUp();
    if (x % 3 === 0) await this.#kill();
    else await this.#stop();
    this.#isUndisturbed = false;
    this.#database.read.$client.close(true);
    if (where === "elsewhere") this.#path = this.#aMachine();
    const request = {
      named: backup.file,
      receipts: null,
      nowMs: this.#now(),
      dryRun: false,
      identity: null,
      store: null,
    };
    // A connection that is closed keeps its file open until its statements are collected.
    Bun.gc(true);
    await eventually(async () => {
      Bun.gc(true);
      await openBackups(this.#path).restore(request, AbortSignal.timeout(60_000), () => {});
    });
    const before = this.#known;
    this.#known = where === "here" ? restoredHere(before, backup.known) : restoredElsewhere(before, backup.known);
    this.#database = openTestDatabase(this.#path);
    this.#reopen();
    this.#forgetOlder();
    this.#start();
  }

  #stored(): Set<string> {
    return new Set(documentsOf(this.#database, this.#account.number).map((doc): string => JSON.parse(doc).id));
  }

  /** Compares the ledger with the log, for each lead that ever was. */
  async compare(): Promise<void> {
    this.#flush();
    const ids = [...this.#leads.keys()];
    const stored = this.#stored();
    const persons = ids.map((value) => ({ kind: "id", value }) as const);
    const found = await held(this.#database, this.#account, persons, this.#now());
    for (const [index, id] of ids.entries()) {
      const { received, gaps } = found[index] ?? { received: [], gaps: [] };
      this.counts.compared++;
      this.#expectEqual(id, daysOf(received), this.#expected(id), this.#expected(id, "may return"));
      if (stored.has(id)) this.#expectGaps(id, gaps);
    }
  }

  #expectGaps(id: string, gaps: PersonalData["gaps"]): void {
    if (this.#isUndisturbed && gaps.length > 0) this.differences.push(`${id} has gaps ${JSON.stringify(gaps)}`);
    for (const sent of this.#known.unrecorded.get(id) ?? []) {
      this.counts.unrecorded++;
      const isNamed = gaps.some(
        ({ from, to, reason }) =>
          reason === "clock" ||
          // A restore on another machine names the time by its own clock, not by that of the machine that sent a lead.
          (reason === "restore" && this.#hasMovedClock) ||
          (Date.parse(from) <= sent.atMs && (to === null || sent.atMs <= Date.parse(to))),
      );
      if (!isNamed) this.differences.push(`${id}: no gap of ${JSON.stringify(gaps)} names ${JSON.stringify(sent)}`);
    }
  }

  /** Returns who must be named, with the first and the last day. */
  #expected(id: string, also?: "may return"): Days {
    const oldest = dayOf(this.#now() - 400 * dayMs);
    const returned = also === undefined ? [] : (this.#known.mayReturn.get(id) ?? []);
    const kept = [...(this.#known.recorded.get(id) ?? []), ...returned].filter(({ day }) => day >= oldest);
    return daysOf(kept.map(({ key, day }) => ({ key, first: day, last: day })));
  }

  /** Expects all of what is known to be said, and nothing that goes beyond what may be said. */
  #expectEqual(what: string, said: Days, expected: Days, allowed: Days): void {
    if (!isWithin(expected, said) || !isWithin(said, allowed))
      this.differences.push(`${what}: the ledger says ${JSON.stringify(said)}, the log ${JSON.stringify(expected)}`);
  }

  async close(): Promise<void> {
    await this.#stop();
    this.#database.read.$client.close(true);
  }
}

/** Both files know something. Erasures since the backup are repeated, and forget what it knew. */
function restoredHere(current: Known, backup: Known): Known {
  const recorded = structuredClone(backup.recorded);
  const unrecorded = structuredClone(backup.unrecorded);
  // What retention has forgotten, and erasures that the current file does not know.
  const isErased = new Set(current.erasures.values());
  const returning = new Map([...merged(backup.forgotten, current.forgotten)].filter(([id]) => !isErased.has(id)));
  for (const [number, id] of current.erasures) {
    if (backup.erasures.has(number)) continue;
    recorded.delete(id);
    unrecorded.delete(id);
  }
  return {
    recorded: merged(recorded, current.recorded),
    unrecorded: merged(unrecorded, current.unrecorded),
    erasures: new Map([...backup.erasures, ...current.erasures]),
    forgotten: merged(backup.forgotten, current.forgotten),
    mayReturn: merged(merged(backup.mayReturn, current.mayReturn), returning),
  };
}

/** Only the backup is known. Who was sent leads since is in no file. */
function restoredElsewhere(current: Known, backup: Known): Known {
  const { recorded, unrecorded, ...others } = structuredClone(backup);
  const inBackup = new Set([...recorded].flatMap(([id, some]) => some.map((sent) => `${id} ${JSON.stringify(sent)}`)));
  for (const [id, some] of [...current.recorded, ...current.unrecorded])
    for (const sent of some) if (!inBackup.has(`${id} ${JSON.stringify(sent)}`)) add(unrecorded, id, sent);
  return { recorded, unrecorded, ...others };
}

/** The first and the last day of each key. */
type Days = Readonly<Record<string, readonly [first: string, last: string]>>;

function isWithin(days: Days, others: Days): boolean {
  return Object.entries(days).every(([key, [first, last]]) => {
    const [from, to] = others[key] ?? ["9", "0"];
    return from <= first && last <= to;
  });
}

function daysOf(received: readonly { readonly key: string; readonly first: string; readonly last: string }[]) {
  const days: Record<string, readonly [string, string]> = {};
  for (const { key, first, last } of received) {
    const sorted = [...(days[key] ?? []), first, last].toSorted();
    days[key] = [sorted[0] ?? first, sorted.at(-1) ?? last];
  }
  return days;
}

function appOf(store: ServedStore, now: () => number) {
  const settings = { baseUrl: "http://localhost", trustProxy: false, publicMetrics: false, metricsToken: null };
  const limiter = createLimiter(1_000_000_000);
  const parts = { store, limiter, log: pino({ level: "silent" }), now, inflow: () => null };
  return createApp({ ...parts, ...settings }, { requestIP: () => null });
}
