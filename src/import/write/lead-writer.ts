/** Writes one lead, or keeps it out: found by its ID if it is stored, moved to the next free millisecond if its own is taken. */
import { eq, type SQLWrapper } from "drizzle-orm";
import { oldestKeptMs } from "../../contract/calendar.ts";
import type { PersonIdentifier } from "../../contract/person.ts";
import { moveDocument, readDocument } from "../../contract/stored-lead.ts";
import { formatTime } from "../../contract/time.ts";
import type { AccountNumber } from "../../db/accounts.ts";
import type { Connection, Statement } from "../../db/connection.ts";
import { accounts } from "../../db/schema.ts";
import { identifiersOf } from "../../privacy/identifiers.ts";
import { openSuppressions } from "../../privacy/suppressions.ts";
import { idFromSource } from "../map/identity.ts";
import type { ImportOptions, ImportOutcome, NewLead } from "../new-lead.ts";
import { openPixelNumbers, openStoredLeads, type StoredLeads, type StoredPosition } from "./stored-leads.ts";

/** The context of all leads of one transaction. */
export interface WriteContext {
  /** The number of the import that they belong to; 0 is none. */
  readonly importNumber: number;
  readonly nowMs: number;
  /** The time of leads that have none, and that were not delivered earlier. */
  readonly stampMs: number;
}

/** The destination of the leads of one transaction: the account in the file, or a draft of what will be written to it. */
export interface Destination {
  readonly read: Connection;
  readonly leads: StoredLeads;
  readonly pixels: ReturnType<typeof openPixelNumbers>;
  readonly guard: ReturnType<typeof openGuard>;
  /** Runs another statement in the transaction. */
  run(statement: Statement & SQLWrapper): void;
  /** Returns true if no more leads should be written in the transaction. */
  isFull(): boolean;
}

/** Returns the account in the file as a destination. Call it within the transaction: every erasure up to then holds for it. */
export function openDestination(database: Connection, account: AccountNumber, nowMs: number): Destination {
  return {
    read: database,
    leads: openStoredLeads(database, account),
    pixels: openPixelNumbers(database, account),
    guard: openGuard(database, account, nowMs),
    run: (statement) => void database.run(statement),
    isFull: () => false,
  };
}

const none = Number.NEGATIVE_INFINITY;

/** Writes leads in one transaction. */
export class LeadWriter {
  private newest: number;
  /** The newest lead that others brought before, or between two transactions. */
  private readonly ofOthers: number;
  /** The last lead that was moved: all milliseconds from the one it asked for to the one it got are taken. */
  private taken = { from: 0, to: none };

  /** `before` is the newest lead that others had brought before the last transaction of the import; null if there was none. */
  constructor(
    private readonly destination: Destination,
    private readonly context: WriteContext,
    private readonly options: ImportOptions,
    before?: number | null,
  ) {
    const last = destination.leads.newest();
    this.newest = last?.at ?? none;
    // Clients may have read what another import brought since. They never look for older leads again.
    const isBroughtByOthers = before === undefined || last?.importNumber !== context.importNumber;
    this.ofOthers = isBroughtByOthers ? Math.max(before ?? none, this.newest) : (before ?? none);
  }

  write(lead: NewLead): ImportOutcome {
    const { guard, pixels } = this.destination;
    const objection = guard.objection(lead);
    if (objection !== null) return objection;
    const pixel = pixels.find(lead.pixelId) ?? this.makePixelOrReject(lead);
    if (typeof pixel !== "number") return pixel;
    const { stampMs } = this.context;
    // Clients that poll would never see a lead older than the newest one.
    const wanted = lead.identifiedMs ?? Math.max(Math.min(lead.arrivedMs ?? stampMs, stampMs), this.newest + 1);
    const at = this.insert(lead, pixel, wanted);
    if (typeof at !== "number") return this.keepOrReplace(lead, pixel, at);
    this.noteNewest(at);
    const moved = lead.clamped || (lead.identifiedMs !== null && at !== wanted);
    return { kind: "imported", atMs: at, moved, late: at < this.ofOthers };
  }

  /** Returns the time of the newest lead that others brought; null if there is none. */
  newestBefore(): number | null {
    return this.ofOthers === none ? null : this.ofOthers;
  }

  /** Must be called after leads were inserted without `write`, with the time of the newest. */
  noteNewest(newestMs: number): void {
    this.newest = Math.max(this.newest, newestMs);
  }

  /** Inserts a lead at its time or the first free one after it, and returns that; or where the lead with its ID is stored. */
  private insert(lead: NewLead, pixel: number, wanted: number): number | StoredPosition {
    const { leads } = this.destination;
    const { importNumber } = this.context;
    let at = wanted >= this.taken.from && wanted <= this.taken.to ? this.taken.to + 1 : wanted;
    // Most leads are new, so it inserts before it looks.
    while (!leads.insert(lead, { importNumber, pixel, at, doc: documentAt(lead, at, this.options) })) {
      const stored = leads.find(lead.id);
      if (stored !== null) return stored;
      at = leads.firstFree(at);
    }
    if (at !== wanted) this.taken = { from: wanted, to: at };
    return at;
  }

  /** A lead of another pixel is never replaced: two vendors may use one ID for two people. */
  private keepOrReplace(lead: NewLead, pixel: number | null, stored: StoredPosition): ImportOutcome {
    const isOfThis = stored.importNumber === this.context.importNumber;
    if (this.options.onDuplicate === "skip" || pixel !== stored.pixel)
      return { kind: "duplicate", isRepeated: isOfThis };
    this.destination.leads.replace(lead, { ...stored, doc: documentAt(lead, stored.at, this.options) });
    return { kind: "replaced", ofOther: !isOfThis };
  }

  /** Creates the pixel of a lead, or rejects the lead. A lead that is stored, with another pixel, needs none. */
  private makePixelOrReject(lead: NewLead): number | ImportOutcome {
    const { leads, pixels } = this.destination;
    const stored = leads.find(lead.id);
    if (stored !== null) return this.keepOrReplace(lead, null, stored);
    if (this.options.createPixels) return pixels.make(lead.pixelId, this.context.nowMs);
    return { kind: "rejected" };
  }
}

/** Keeps out erased people, and leads older than the retention of the account. */
function openGuard(database: Connection, account: AccountNumber, nowMs: number) {
  const rules = database
    .select({ number: accounts.number, id: accounts.id, retainDays: accounts.retainDays })
    .from(accounts)
    .where(eq(accounts.number, account))
    .get();
  const oldestMs = oldestKeptMs(rules?.retainDays ?? null, nowMs);
  const isBlocked = rules === undefined ? null : openSuppressions(database, rules);
  return {
    /** Returns why a lead is kept out, or null. */
    objection(lead: NewLead): ImportOutcome | null {
      if (isBlocked?.(identifiersOfNew(lead)) === true) return { kind: "suppressed" };
      return lead.identifiedMs === null || lead.identifiedMs >= oldestMs ? null : { kind: "rejected" };
    },
    /** Returns true if no lead from a time on can meet an objection. */
    acceptsAllFrom: (ms: number): boolean => isBlocked === null && ms >= oldestMs,
  };
}

/** Returns everything by which an erasure may have blocked a lead. */
function identifiersOfNew({ document, aliases, vendorId }: NewLead): PersonIdentifier[] {
  // An erasure by a vendor's ID blocks the ID that it makes without a pixel: the pixel may not have existed yet.
  const ids = vendorId === null ? [] : [{ kind: "id", value: idFromSource(vendorId, null) } as const];
  return [...identifiersOf(readDocument(document)), ...aliases, ...ids];
}

/** Returns the document of a lead at its stored time. A dry run needs none. */
function documentAt(lead: NewLead, ms: number, { dryRun }: ImportOptions): string {
  if (dryRun) return "";
  return ms === lead.identifiedMs ? lead.document : moveDocument(lead.document, formatTime(ms));
}
