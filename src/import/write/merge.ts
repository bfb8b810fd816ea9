/**
 * Inserts the staged leads, oldest first. Whatever is committed is an ascending run, so a client that polls with `since`
 * receives every lead that is newer than what the account had, whatever the order of the file.
 */
import { sql } from "drizzle-orm";
import type { AccountNumber } from "../../db/accounts.ts";
import { type Connection, changedRows } from "../../db/connection.ts";
import { codeOf } from "../../db/failure.ts";
import { leads, pixels } from "../../db/schema.ts";
import type { ImportOptions, ImportOrigin } from "../new-lead.ts";
import type { MergeListener, MergeProgress, SourceRead } from "../staged-import.ts";
import { type BatchRecord, beginBatch, nextBatch, noteAdded, noteOutcome, progressOf, recordBatch } from "./batch.ts";
import { type LeadWriter, openDestination, openLeadWriter } from "./lead-writer.ts";
import type { Staging } from "./staging.ts";
import { inTransactions, type Work } from "./transactions.ts";

/** Other writers wait for the end of a step. */
const steps = { min: 500, max: 2_000, shortMs: 60, longMs: 150 };

/** The leads to merge, and the options. */
export interface Material {
  readonly options: ImportOptions;
  readonly origin: ImportOrigin;
  /** The leads, which are staged on the connection that writes. */
  readonly staging: Pick<Staging, "summarize" | "read">;
  readonly read: SourceRead;
  readonly now: () => number;
  readonly listener?: MergeListener | undefined;
}

/** Merges. At each step of the generator, one more transaction is on the disk. */
export async function* merge(
  database: Connection,
  account: AccountNumber,
  material: Material,
): AsyncGenerator<MergeProgress> {
  const work = new Merge(database, account, material);
  const transactions = material.options.dryRun ? runDry(database, work) : inTransactions(database, work);
  for await (const _ of transactions) yield work.progress();
}

class Merge implements Work {
  private readonly writer: LeadWriter;
  private record: BatchRecord;
  private done = 0;
  private size = steps.min;
  /** The state at the beginning of the transaction. */
  private committed: { readonly done: number; readonly record: BatchRecord };

  constructor(
    private readonly database: Connection,
    account: AccountNumber,
    private readonly material: Material,
  ) {
    this.writer = openLeadWriter(openDestination(database, account), material.options);
    this.record = beginBatch(account, material.origin, material.read);
    this.committed = { done: 0, record: this.record };
  }

  begin(): void {
    const { options, origin, now } = this.material;
    this.committed = { done: this.done, record: { ...this.record, counts: { ...this.record.counts } } };
    if (!this.record.isThere && !options.dryRun) this.record.number = nextBatch(this.database);
    this.writer.begin({ batch: this.record.number, nowMs: now(), stampMs: origin.startedMs });
  }

  step(): boolean {
    const max = this.size;
    const startedMs = performance.now();
    const written = this.writeSome(max);
    this.size = nextSize(this.size, performance.now() - startedMs, steps);
    this.done += written;
    this.material.listener?.onProgress(this.done);
    return written === max;
  }

  end(isDone: boolean): void {
    const { options, now } = this.material;
    if (!options.dryRun) recordBatch(this.database, this.record, isDone ? now() : null);
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
    let written = this.writeAtOnce(max);
    if (written === max) return written;
    for (const lead of this.material.staging.read(this.done + written, max - written)) {
      noteOutcome(this.record, this.writer.write(lead));
      written++;
    }
    return written;
  }

  /** Writes leads up to the first that needs a look, because it has no time, or because its ID, time, or pixel does not fit. */
  private writeAtOnce(max: number): number {
    const { staging } = this.material;
    const { untimed, oldestMs } = staging.summarize(this.done, max, null);
    if (untimed > 0 || oldestMs === null || !this.writer.acceptsAllFrom(oldestMs)) return 0;
    const written = this.insertMany(max);
    const summary = staging.summarize(this.done, written, this.writer.newestBefore());
    if (summary.oldestMs === null || summary.newestMs === null) return 0;
    this.writer.noteNewest(summary.newestMs);
    noteAdded(this.record, { ...summary, oldestMs: summary.oldestMs, newestMs: summary.newestMs });
    return written;
  }

  /** Inserts leads by one statement, which takes half of the time, up to the first that violates a constraint. */
  private insertMany(max: number): number {
    const { account, number } = this.record;
    const from = this.done;
    try {
      // OR FAIL keeps the leads before the first that does not fit. With ABORT, foreign keys, a function, or an explicit
      // key, SQLite would copy each page before it changes it: a third of the time, and half of what is written.
      this.database.run(sql`
        INSERT OR FAIL INTO ${leads} (account, identified_at, uuid, pixel, state, city_key, has_email, import, doc)
        SELECT ${account}, staged.at, uuid, pixels.number, state, city_key, has_email, ${number},
          ${this.material.options.dryRun ? sql`''` : sql`document`}
        FROM in_order CROSS JOIN staged ON staged.place = in_order.lead
          LEFT JOIN ${pixels} ON pixels.account = ${account} AND pixels.id = staged.pixel
        WHERE in_order.place > ${from} AND in_order.place <= ${from + max} ORDER BY in_order.place`);
    } catch (cause) {
      if (!codeOf(cause).startsWith("SQLITE_CONSTRAINT")) throw cause;
    }
    return changedRows(this.database);
  }
}

/** A dry run writes to temporary tables and needs no lock. A transaction saves it a journal for each lead. */
async function* runDry({ $client: client }: Connection, work: Work): AsyncGenerator<void> {
  for (let isLeft = true; isLeft; ) {
    isLeft = client.transaction(() => {
      work.begin();
      return work.step();
    })();
    yield;
  }
}

/**
 * Puts temporary tables in front of those that an import writes to. SQLite takes a temporary table for one of the same
 * name in the file, so a dry run runs the same statements, and its results vanish with the connection.
 */
export function shadowTables(database: Connection, account: AccountNumber): void {
  database.run(sql`
    CREATE TEMP TABLE stored_leads (
      number INTEGER PRIMARY KEY, account INTEGER, identified_at INTEGER, uuid BLOB, pixel INTEGER, state TEXT,
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

/** The bounds of a step, in leads, and the times that make the next one larger or smaller. */
interface StepBounds {
  readonly min: number;
  readonly max: number;
  /** After a shorter step, the next one is twice as large. */
  readonly shortMs: number;
  /** After a longer step, the next one is half as large. */
  readonly longMs: number;
}

/** Returns the size of the next step, so that steps take about the same time on slow machines and fast ones. */
export function nextSize(size: number, tookMs: number, { min, max, shortMs, longMs }: StepBounds): number {
  if (tookMs > longMs) return Math.max(min, Math.floor(size / 2));
  return tookMs < shortMs ? Math.min(max, size * 2) : size;
}
