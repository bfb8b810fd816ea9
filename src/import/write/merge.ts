/**
 * Inserts the staged leads, oldest first. Whatever is committed is an ascending run, so a client that polls with `since`
 * receives every lead that is newer than what the account had, whatever the order of the file.
 */
import { sql } from "drizzle-orm";
import { type AccountNumber, findAccount } from "../../db/accounts.ts";
import { type Connection, changedRows } from "../../db/connection.ts";
import { codeOf } from "../../db/failure.ts";
import { leads, pixels } from "../../db/schema.ts";
import type { Work } from "../../db/transactions.ts";
import type { SuppressedAccount } from "../../privacy/suppressions.ts";
import { ImportInterrupted, type ImportOptions, type ImportOrigin } from "../new-lead.ts";
import {
  beginImportRecord,
  continuing,
  countAdded,
  countOutcome,
  type ImportRecord,
  type MergeProgress,
  nextImportNumber,
  progressOf,
  type SourceRead,
  writeImportRecord,
} from "./import-record.ts";
import { type Destination, LeadWriter, openDestination } from "./lead-writer.ts";
import type { Staging } from "./staging.ts";

/** The connections and functions with which an import stages its leads, and writes them. */
export interface ImportTarget {
  /** The stored leads as they are now. */
  readonly read: Connection;
  /**
   * A connection that nobody else uses. The leads are staged on it, so that they stay within SQLite. While a file is read it
   * has a transaction open, and would see old leads.
   */
  readonly connection: Connection;
  /** The folder of the staged leads. */
  readonly folder: string;
  /** Brings `read` and `connection` up to the last write of others. */
  catchUp(): Promise<void>;
  /** Opens the destination of the leads of one transaction. */
  open(nowMs: number): Destination;
  /** Does all of the work. At each step of the generator, one more transaction is on the disk. */
  transactions(work: Work): AsyncGenerator<void>;
}

/** The functions that a merge calls while it writes. */
export interface MergeListener {
  /** Called after each step, with the number of leads written so far. Some of them may not be committed. */
  onProgress(done: number): void;
  /** Returns true if the import should end soon, as after Ctrl-C. */
  isStopping(): boolean;
}

/** The leads to merge, and the options. */
interface Material {
  readonly account: SuppressedAccount;
  readonly options: ImportOptions;
  readonly origin: ImportOrigin;
  /** The leads, which are staged on the connection that writes. */
  readonly staging: Pick<Staging, "summarize" | "read">;
  readonly read: SourceRead;
  readonly now: () => number;
  readonly listener?: MergeListener | undefined;
}

/** A statement that writes fewer leads than this takes longer than one statement per lead. */
const minTogether = 16;

/** The merge of one import, which is done in transactions. Each of them opens its destination. */
export class Merge implements Work {
  private destination: Destination;
  private writer: LeadWriter;
  private record: ImportRecord;
  private done = 0;
  /** The number of leads to write one by one before a bulk insert is tried again. It doubles while bulk inserts write few. */
  private singly = 1;
  private readonly total: number;
  /** The state at the beginning of the transaction. */
  private committed: { readonly done: number; readonly record: ImportRecord };

  constructor(
    private readonly material: Material,
    private readonly open: (nowMs: number) => Destination,
  ) {
    const { account, staging, origin, options, read, now } = material;
    this.total = staging.summarize(0, Number.MAX_SAFE_INTEGER, null).leads;
    this.destination = open(now());
    const record = beginImportRecord(account.number, origin, read);
    this.record = continuing(this.destination.read, record, origin.continues ?? null);
    this.committed = { done: 0, record: this.record };
    this.writer = new LeadWriter(
      this.destination,
      { importNumber: 0, nowMs: now(), stampMs: origin.startedMs },
      options,
    );
  }

  begin(): void {
    const { account, options, origin, now } = this.material;
    const nowMs = now();
    this.committed = { done: this.done, record: { ...this.record, counts: { ...this.record.counts } } };
    this.destination = this.open(nowMs);
    refuseDeleted(this.destination.read, account);
    if (!this.record.isThere && !options.dryRun) this.record.number = nextImportNumber(this.destination.read);
    const context = { importNumber: this.record.number, nowMs, stampMs: origin.startedMs };
    this.writer = new LeadWriter(this.destination, context, options, this.writer.newestBefore());
  }

  step(max: number): boolean {
    this.done += this.writeSome(max);
    this.material.listener?.onProgress(this.done);
    return this.done < this.total;
  }

  end(isDone: boolean): void {
    const { options, now } = this.material;
    if (!options.dryRun) writeImportRecord(this.destination, this.record, isDone ? now() : null);
  }

  rollBack(): void {
    ({ done: this.done, record: this.record } = this.committed);
  }

  isStopping(): boolean {
    return this.material.listener?.isStopping() === true;
  }

  progress(): MergeProgress {
    return { done: this.done, ...progressOf(this.record) };
  }

  /** Writes the next leads in time order, and returns their number. */
  private writeSome(max: number): number {
    let written = 0;
    const isEnough = () => written >= Math.min(max, this.total - this.done) || this.destination.isFull();
    while (!isEnough()) {
      // A bulk insert lets SQLite choose the numbers, and SQLite would reuse those of deleted leads.
      const together = this.destination.leads.mustSkipNumbers() ? 0 : this.writeTogether(written, max - written);
      written += together;
      this.singly = together < minTogether ? Math.min(2 * this.singly, max) : 1;
      for (const lead of this.material.staging.read(this.done + written, Math.min(this.singly, max - written))) {
        countOutcome(this.record, this.writer.write(lead));
        written++;
        if (this.destination.isFull()) break;
      }
    }
    return written;
  }

  /** Writes leads in bulk up to the first that needs separate handling: it has no time, or violates a constraint. */
  private writeTogether(after: number, max: number): number {
    const { staging } = this.material;
    const from = this.done + after;
    const { oldestMs } = staging.summarize(from, 1, null);
    if (oldestMs === null || !this.destination.guard.acceptsAllFrom(oldestMs)) return 0;
    const written = this.insertMany(from, max);
    const added = staging.summarize(from, written, this.writer.newestBefore());
    if (added.oldestMs === null || added.newestMs === null) return 0;
    this.writer.noteNewest(added.newestMs);
    countAdded(this.record, added, added.oldestMs, added.newestMs);
    return written;
  }

  /** Inserts leads by one statement, which takes half of the time, up to the first that violates a constraint. */
  private insertMany(from: number, max: number): number {
    const { account, number } = this.record;
    try {
      // OR FAIL keeps the leads before the first that does not fit. With ABORT, foreign keys, a function, or an explicit
      // key, SQLite would copy each page before it changes it: a third of the time, and half of what is written.
      this.destination.run(sql`
        INSERT OR FAIL INTO ${leads} (account, identified_at, uuid, pixel, state, city_key, has_email, import, doc)
        SELECT ${account}, staged.at, uuid, pixels.number, state, city_key, has_email, ${number},
          ${this.material.options.dryRun ? sql`''` : sql`document`}
        FROM in_order CROSS JOIN staged ON staged.position = in_order.lead
          LEFT JOIN ${pixels} ON pixels.account = ${account} AND pixels.id = staged.pixel
        WHERE in_order.position > ${from} AND in_order.position <= ${from + max} ORDER BY in_order.position`);
    } catch (cause) {
      if (!codeOf(cause).startsWith("SQLITE_CONSTRAINT")) throw cause;
    }
    return changedRows(this.destination.read);
  }
}

/** Nothing else keeps leads out of an account that is gone, where nobody could erase them: foreign keys are not checked. */
function refuseDeleted(database: Connection, { number, id }: SuppressedAccount): void {
  const found = findAccount(database, id);
  if (found?.id === id && found.number === number) return;
  throw new ImportInterrupted(
    `Account ${id} was deleted during the import, and its leads with it.`,
    "To import the file, pass another account.",
    null,
  );
}

/** Returns the target of a dry run. */
export function openDryRun(database: Connection, account: AccountNumber): Pick<ImportTarget, "open" | "transactions"> {
  shadowTables(database, account);
  return { open: (nowMs) => openDestination(database, account, nowMs), transactions: (work) => runDry(database, work) };
}

const dryStep = 2_000;

/** A dry run writes to temporary tables and needs no lock. A transaction saves it a journal for each lead. */
async function* runDry({ $client: client }: Connection, work: Work): AsyncGenerator<void> {
  for (let isLeft = true; isLeft; ) {
    isLeft = client.transaction(() => {
      work.begin();
      return work.step(dryStep);
    })();
    yield;
  }
}

/**
 * Puts temporary tables in front of those that an import writes to. SQLite takes a temporary table for one of the same
 * name in the file, so a dry run runs the same statements, and its results vanish with the connection.
 */
function shadowTables(database: Connection, account: AccountNumber): void {
  database.run(sql`
    CREATE TEMP TABLE stored_leads (
      number INTEGER PRIMARY KEY, account INTEGER, identified_at INTEGER NOT NULL, uuid BLOB, pixel INTEGER NOT NULL, state TEXT,
      city_key TEXT, has_email INTEGER, import INTEGER, doc TEXT, UNIQUE (account, identified_at), UNIQUE (account, uuid)
    )`);
  database.run(sql`
    INSERT INTO temp.stored_leads (account, identified_at, uuid, pixel)
    SELECT account, identified_at, uuid, pixel FROM main.stored_leads WHERE account = ${account}`);
  database.run(sql`
    CREATE TEMP TABLE pixels (
      number INTEGER PRIMARY KEY, account INTEGER, id TEXT, status TEXT, created_at INTEGER, UNIQUE (account, id)
    )`);
  database.run(sql`INSERT INTO temp.pixels SELECT * FROM main.pixels WHERE account = ${account}`);
}
