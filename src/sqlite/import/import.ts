/** Leads on their way in: duplicates told by id, ties moved to the next free millisecond, short transactions. */
import { sql } from "drizzle-orm";
import { writeDocument } from "../../contract/lead.ts";
import { writeMoment } from "../../contract/time.ts";
import type { ImportOptions, ImportOutcome, LeadImport, NewLead } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";
import type { Connection } from "../connection.ts";
import { openPixels } from "../pixels.ts";
import { ofPosition } from "../schema.ts";
import { openGuard } from "./admission.ts";
import { prepareImport } from "./statements.ts";

/** A transaction ends after this time, so that no other writer waits longer. */
const transactionMs = 50;
/** So few leads at the end of a portion go along, instead of into a transaction of their own, if they take no longer. */
const smallRest = { leads: 750, ms: 25 };
/** How many tied moments are remembered; forgetting them costs time, not correctness. */
const rememberedTies = 100_000;

export function beginImport(database: Connection, account: AccountNumber, options: ImportOptions): LeadImport {
  if (options.dryRun) shadowTables(database, account);
  const statements = prepareImport(database, account);
  const guard = openGuard(database, account);
  const pixels = openPixels(database);
  const pixelNumbers = new Map<string, number>();
  const newestAtBegin = statements.newest() ?? Number.NEGATIVE_INFINITY;
  let newest = newestAtBegin;
  /** From a moment that is taken to one that may be free: a tied group is never walked twice. */
  const freeAfter = new Map<number, number>();

  function pixelNumber(id: string): number | null {
    const known = pixelNumbers.get(id) ?? statements.pixel(id);
    if (known !== null) pixelNumbers.set(id, known);
    return known;
  }

  function makePixel(id: string, nowMs: number): number | null {
    if (!options.createPixels) return null;
    pixels.create(account, { id, status: "active" }, nowMs);
    return pixelNumber(id);
  }

  function follow(ms: number): number {
    let at = ms;
    for (let next = freeAfter.get(at); next !== undefined; next = freeAfter.get(at)) at = next;
    return at;
  }

  /**
   * Stores a lead at the first free millisecond from a moment on, and says which that was; null when its id is there.
   * It tries before it looks, because most leads are new.
   */
  function place(lead: NewLead, uuid: Buffer, pixel: number, ms: number): number | null {
    let at = follow(ms);
    while (!statements.insert({ ...lead, uuid, pixel, at, doc: documentAt(lead, at) })) {
      if (statements.momentOf(uuid) !== null) return null;
      const free = statements.firstFree(at);
      freeAfter.set(at, free);
      at = follow(free);
    }
    if (at !== ms) {
      if (freeAfter.size > rememberedTies) freeAfter.clear();
      freeAfter.set(ms, at + 1);
    }
    return at;
  }

  function documentAt(lead: NewLead, ms: number): string {
    return options.dryRun ? "" : writeDocument(lead.id, writeMoment(ms), lead.tail);
  }

  function replace(lead: NewLead, uuid: Buffer, pixel: number): ImportOutcome {
    const at = statements.momentOf(uuid);
    if (at === null) throw new Error("a lead that was just there is gone");
    statements.replace({ ...lead, pixel, at, doc: documentAt(lead, at) });
    return { kind: "replaced" };
  }

  function writeOne(lead: NewLead, nowMs: number): ImportOutcome {
    const objection = guard.objection(lead);
    if (objection !== null) return objection;
    const uuid = bytesOf(lead.id);
    const known = pixelNumber(lead.pixelId);
    // A lead that is there already and stays as it is needs no pixel.
    if (known === null && options.onDuplicate === "skip" && statements.momentOf(uuid) !== null) {
      return { kind: "duplicate" };
    }
    const pixel = known ?? makePixel(lead.pixelId, nowMs);
    if (pixel === null) {
      return { kind: "rejected", reason: `the account has no pixel ${lead.pixelId} (--create-pixels makes it)` };
    }
    const wanted = lead.identifiedMs ?? Math.max(nowMs, newest + 1);
    const at = place(lead, uuid, pixel, wanted);
    if (at === null) return options.onDuplicate === "skip" ? { kind: "duplicate" } : replace(lead, uuid, pixel);
    newest = Math.max(newest, at);
    return { kind: "imported", moved: lead.identifiedMs !== null && at !== wanted, late: at < newestAtBegin };
  }

  return {
    write(leads, nowMs) {
      const outcomes: ImportOutcome[] = [];
      const endMs = performance.now() + transactionMs;
      const work = () => {
        guard.refresh(nowMs);
        newest = Math.max(newest, statements.newest() ?? newest);
        for (const lead of leads) {
          outcomes.push(writeOne(lead, nowMs));
          const rest = leads.length - outcomes.length;
          if (rest % 16 > 0) continue;
          const overdueMs = performance.now() - endMs;
          if (overdueMs > 0 && (rest > smallRest.leads || overdueMs > smallRest.ms)) break;
        }
      };
      // A rehearsal writes to its shadows alone, and must not keep anybody from writing.
      database.transaction(work, { behavior: options.dryRun ? "deferred" : "immediate" });
      return outcomes;
    },
  };
}

/** The 16 bytes of a UUID. */
export function bytesOf(id: string): Buffer {
  return Buffer.from(id.replaceAll("-", ""), "hex");
}

/**
 * Puts temporary tables in front of those that an import writes to: SQLite takes a temporary table for one of the
 * same name in the file, so that a rehearsal runs the very same statements and is forgotten with the connection.
 */
function shadowTables(database: Connection, account: AccountNumber): void {
  database.run(sql`
    CREATE TEMP TABLE stored_leads (
      position INTEGER PRIMARY KEY, account INTEGER AS (${sql.raw(ofPosition.account)}),
      identified_at INTEGER AS (${sql.raw(ofPosition.identifiedAt)}), uuid BLOB, pixel INTEGER, state TEXT,
      city_key TEXT, has_email INTEGER, import INTEGER, doc TEXT, UNIQUE (account, identified_at), UNIQUE (account, uuid)
    )`);
  database.run(sql`
    INSERT INTO temp.stored_leads (position, uuid) SELECT position, uuid FROM main.stored_leads WHERE account = ${account}`);
  database.run(sql`
    CREATE TEMP TABLE pixels (
      number INTEGER PRIMARY KEY, account INTEGER, id TEXT, status TEXT, created_at INTEGER, UNIQUE (account, id)
    )`);
  database.run(sql`INSERT INTO temp.pixels SELECT * FROM main.pixels WHERE account = ${account}`);
}
