/**
 * One lead goes in, or is kept out: told by its id whether it is there, and moved to the next free millisecond where its own
 * is taken.
 */
import { eq } from "drizzle-orm";
import { oldestKeptMs } from "../../contract/calendar.ts";
import type { LeadDetails } from "../../contract/lead.ts";
import { emailKey } from "../../contract/person.ts";
import { moveDocument } from "../../contract/stored-lead.ts";
import { writeMoment } from "../../contract/time.ts";
import type { Connection } from "../../db/connection.ts";
import { accounts } from "../../db/schema.ts";
import { identifiersOf } from "../../privacy/identifiers.ts";
import { hasBlocks, openSuppressions } from "../../privacy/suppressions.ts";
import type { ImportOptions, ImportOutcome, NewLead } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";
import { openPixelNumbers, type PixelNumbers } from "./pixel-numbers.ts";
import { openStoredLeads, type Place, type StoredLeads } from "./stored-leads.ts";
import { openTies } from "./ties.ts";

/** What holds for all leads of one transaction. */
export interface WriteContext {
  /** The number of the batch that they belong to; 0 is none. */
  readonly batch: number;
  readonly nowMs: number;
  /** The time that leads get which have none. */
  readonly stampMs: number;
}

export interface LeadWriter {
  /** To be called first in each transaction. */
  begin(context: WriteContext): void;
  /** Writes one lead, within the transaction. */
  write(lead: NewLead): ImportOutcome;
  /** The newest lead that others have brought before, or since between two transactions; null where there is none. */
  newestBefore(): number | null;
  /** Whether any lead from a moment on may go in without a look at each. */
  acceptsAllFrom(oldestMs: number): boolean;
  /** To be called after leads went in without `write`, with the newest moment of theirs. */
  noteNewest(newestMs: number): void;
}

/** What leads are written to: an account, or a draft of what is to be written there. */
export interface Destination {
  readonly leads: StoredLeads;
  readonly pixels: PixelNumbers;
  readonly guard: ReturnType<typeof openGuard>;
}

/** The account in the file. */
export function openDestination(database: Connection, account: AccountNumber): Destination {
  return {
    leads: openStoredLeads(database, account),
    pixels: openPixelNumbers(database, account),
    guard: openGuard(database, account),
  };
}

export function openLeadWriter({ leads, pixels, guard }: Destination, options: ImportOptions): LeadWriter {
  const none = Number.NEGATIVE_INFINITY;
  let context: WriteContext = { batch: 0, nowMs: 0, stampMs: 0 };
  let newest = none;
  let newestBefore: number | null = null;
  const ties = openTies(leads);

  const isFromOtherImport = (there: Place) => there.batch !== context.batch;
  const isOfOtherVisit = ({ identifiedMs, document }: NewLead, there: Place) =>
    isFromOtherImport(there) &&
    (identifiedMs === null ? hasOtherEmail(document, leads.emailAt(there.at)) : isFar(identifiedMs, there));

  function keepOrReplace(lead: NewLead, pixel: number, there: Place): ImportOutcome {
    const ofOtherVisit = isOfOtherVisit(lead, there);
    if (options.onDuplicate === "skip") return { kind: "duplicate", ofOtherVisit };
    leads.replace(lead, { ...there, pixel, doc: documentAt(lead, there.at, options) });
    return { kind: "replaced", ofOther: isFromOtherImport(there), ofOtherVisit };
  }

  /** A lead that is there already and stays as it is needs no pixel; another one gets it, or is rejected. */
  function makePixelOrRefuse(lead: NewLead): number | ImportOutcome {
    const there = options.onDuplicate === "skip" ? leads.find(lead.id) : null;
    if (there !== null) return { kind: "duplicate", ofOtherVisit: isOfOtherVisit(lead, there) };
    if (options.createPixels) return pixels.make(lead.pixelId, context.nowMs);
    return { kind: "rejected", why: "unknown pixel" };
  }

  return {
    begin(now) {
      context = now;
      guard.refresh(now.nowMs);
      ties.forget();
      const last = leads.newest();
      newest = last?.at ?? none;
      // Clients may have read what another import brought in the meantime. They never look for what is older than that.
      if (newestBefore === null || last?.batch !== now.batch) newestBefore = Math.max(newestBefore ?? none, newest);
    },
    write(lead) {
      const objection = guard.objection(lead);
      if (objection !== null) return objection;
      const pixel = pixels.find(lead.pixelId) ?? makePixelOrRefuse(lead);
      if (typeof pixel !== "number") return pixel;
      const wanted = lead.identifiedMs ?? Math.max(context.stampMs, newest + 1);
      const insertAt = (at: number) =>
        leads.insert(lead, { batch: context.batch, pixel, at, doc: documentAt(lead, at, options) });
      const at = ties.place(lead.id, wanted, insertAt);
      if (typeof at !== "number") return keepOrReplace(lead, pixel, at);
      newest = Math.max(newest, at);
      const moved = lead.clamped || (lead.identifiedMs !== null && at !== wanted);
      return { kind: "imported", atMs: at, moved, late: at < (newestBefore ?? none) };
    },
    newestBefore: () => (newestBefore === none ? null : newestBefore),
    acceptsAllFrom: guard.acceptsAllFrom,
    noteNewest(newestMs) {
      newest = Math.max(newest, newestMs);
    },
  };
}

/** Who and what an account keeps out: persons who were erased, and leads older than it keeps. */
function openGuard(database: Connection, account: AccountNumber) {
  const rules = database
    .select({ id: accounts.id, retainDays: accounts.retainDays, blocked: hasBlocks().mapWith(Boolean) })
    .from(accounts)
    .where(eq(accounts.number, account))
    .prepare();
  let isBlocked: ReturnType<typeof openSuppressions> | null = null;
  let oldestMs = Number.NEGATIVE_INFINITY;
  return {
    /** To be called first in each transaction: what was erased until then holds for it. */
    refresh(nowMs: number): void {
      const now = rules.get();
      oldestMs = oldestKeptMs(now?.retainDays ?? null, nowMs);
      // Hashing costs a good part of a row, and most accounts have erased nobody.
      if (now?.blocked !== true) isBlocked = null;
      else isBlocked ??= openSuppressions(database, { number: account, id: now.id });
    },
    /** Why a lead stays out; null lets it in. */
    objection(lead: NewLead): ImportOutcome | null {
      if (isBlocked?.([...identifiersOf(JSON.parse(lead.document)), ...lead.aliases])) return { kind: "suppressed" };
      if (lead.identifiedMs === null || lead.identifiedMs >= oldestMs) return null;
      return { kind: "rejected", why: "too old" };
    },
    /** Whether no lead from a moment on can meet an objection. */
    acceptsAllFrom: (ms: number): boolean => isBlocked === null && ms >= oldestMs,
  };
}

/** A tie or a clock moves a lead by minutes at most. */
const farMs = 3_600_000;

/** Whether a lead was at quite another time than the one that has its id. */
function isFar(identifiedMs: number, there: Place): boolean {
  return Math.abs(identifiedMs - there.at) > farMs;
}

/** Whether a document and the lead that has its id have two different addresses. */
function hasOtherEmail(document: string, email: string | null): boolean {
  const own: Pick<LeadDetails, "email"> = JSON.parse(document);
  return own.email !== null && email !== null && emailKey(own.email) !== emailKey(email);
}

/** The document of a lead at the moment that it gets; none is needed in a dry run. */
function documentAt(lead: NewLead, ms: number, { dryRun }: ImportOptions): string {
  if (dryRun) return "";
  return ms === lead.identifiedMs ? lead.document : moveDocument(lead.document, writeMoment(ms));
}
