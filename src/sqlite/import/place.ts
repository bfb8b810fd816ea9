/** One lead goes in: told by its id whether it is there, and moved to the next free millisecond where its own is taken. */
import { moveDocument } from "../../contract/lead.ts";
import { writeMoment } from "../../contract/time.ts";
import type { ImportOptions, ImportOutcome, NewLead } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";
import type { Connection } from "../connection.ts";
import { openGuard } from "./admission.ts";
import { openPixelNumbers } from "./pixel-numbers.ts";
import { prepareImport } from "./statements.ts";

/** What holds for all leads of one transaction. */
export interface Placing {
  /** The number of the batch that they belong to; 0 is none. */
  readonly batch: number;
  readonly nowMs: number;
  /** The time that leads get which have none. */
  readonly stampMs: number;
}

export interface Placer {
  /** To be called first in each transaction. */
  begin(placing: Placing): void;
  /** Writes one lead, within the transaction. */
  write(lead: NewLead): ImportOutcome;
  /** The newest lead that there was before the first one of this import; null where there was none. */
  newestBefore(): number | null;
  /** Whether any lead from a moment on may go in without a look at each. */
  takesAllFrom(oldestMs: number): boolean;
  /** To be called when leads up to a moment went in otherwise. */
  wentOnTo(newestMs: number): void;
}

export function openPlacer(database: Connection, account: AccountNumber, options: ImportOptions): Placer {
  const statements = prepareImport(database, account);
  const guard = openGuard(database, account);
  const pixels = openPixelNumbers(database, account);
  const none = Number.NEGATIVE_INFINITY;
  let placing: Placing = { batch: 0, nowMs: 0, stampMs: 0 };
  let newest = none;
  /** The newest lead that there was before the first one of this import. */
  let newestBefore: number | null = null;
  const ties = openTies(statements);

  function ofThereAlready(lead: NewLead, pixel: number): ImportOutcome {
    if (options.onDuplicate === "skip") return { kind: "duplicate" };
    const at = statements.momentOf(lead.id);
    if (at === null) throw new Error("a lead that was just there is gone");
    statements.replace(lead, { pixel, at, doc: documentAt(lead, at, options) });
    return { kind: "replaced" };
  }

  /** A lead that is there already and stays as it is needs no pixel; another one gets it, or is rejected. */
  function ofUnknownPixel({ id, pixelId }: NewLead): number | ImportOutcome {
    if (options.onDuplicate === "skip" && statements.momentOf(id) !== null) return { kind: "duplicate" };
    if (options.createPixels) return pixels.make(pixelId, placing.nowMs);
    return { kind: "rejected", why: "unknown pixel" };
  }

  return {
    begin(now) {
      placing = now;
      guard.refresh(now.nowMs);
      ties.forget();
      newest = Math.max(newest, statements.newest() ?? none);
      newestBefore ??= newest;
    },
    write(lead) {
      const objection = guard.objection(lead);
      if (objection !== null) return objection;
      const pixel = pixels.find(lead.pixelId) ?? ofUnknownPixel(lead);
      if (typeof pixel !== "number") return pixel;
      const wanted = lead.identifiedMs ?? Math.max(placing.stampMs, newest + 1);
      const insertAt = (at: number) =>
        statements.insert(lead, { batch: placing.batch, pixel, at, doc: documentAt(lead, at, options) });
      const at = ties.place(lead.id, wanted, insertAt);
      if (at === null) return ofThereAlready(lead, pixel);
      newest = Math.max(newest, at);
      const moved = lead.identifiedMs !== null && at !== wanted;
      return { kind: "imported", atMs: at, moved, late: at < (newestBefore ?? none) };
    },
    newestBefore: () => (newestBefore === none ? null : newestBefore),
    takesAllFrom: guard.letsAllInFrom,
    wentOnTo(newestMs) {
      newest = Math.max(newest, newestMs);
    },
  };
}

/** The document of a lead at the moment that it gets; none is needed in a dry run. */
function documentAt(lead: NewLead, ms: number, { dryRun }: ImportOptions): string {
  if (dryRun) return "";
  return ms === lead.identifiedMs ? lead.document : moveDocument(lead.document, writeMoment(ms));
}

type Statements = ReturnType<typeof prepareImport>;

/** Leads that share a millisecond: each lies at the first free one from the moment that it asks for. */
function openTies(statements: Pick<Statements, "momentOf" | "firstFree">) {
  /** The last lead that was moved: all from the moment it asked for to the one it got are taken. */
  let taken = { from: 0, to: Number.NEGATIVE_INFINITY };
  return {
    /** To be called where others may have written since. */
    forget() {
      taken = { from: 0, to: Number.NEGATIVE_INFINITY };
    },
    /** Inserts a lead, and says at which moment; null when its id is there. */
    place(id: string, wanted: number, insertAt: (at: number) => boolean): number | null {
      let at = wanted >= taken.from && wanted <= taken.to ? taken.to + 1 : wanted;
      // It tries before it looks, because most leads are new.
      while (!insertAt(at)) {
        if (statements.momentOf(id) !== null) return null;
        at = statements.firstFree(at);
      }
      if (at !== wanted) taken = { from: wanted, to: at };
      return at;
    },
  };
}
