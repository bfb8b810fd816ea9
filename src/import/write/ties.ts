/** Leads that share a millisecond: each lies at the first free one from the moment that it asks for. */
import type { Place, StoredLeads } from "./stored-leads.ts";

/** Places leads within one transaction. */
export function openTies(leads: Pick<StoredLeads, "find" | "firstFree">) {
  /** The last lead that was moved: all from the moment it asked for to the one it got are taken. */
  let taken = { from: 0, to: Number.NEGATIVE_INFINITY };
  return {
    /** To be called where others may have written since. */
    forget() {
      taken = { from: 0, to: Number.NEGATIVE_INFINITY };
    },
    /** Inserts a lead, and says at which moment; or where the lead lies that has its id. */
    place(id: string, wanted: number, insertAt: (at: number) => boolean): number | Place {
      let at = wanted >= taken.from && wanted <= taken.to ? taken.to + 1 : wanted;
      // It tries before it looks, because most leads are new.
      while (!insertAt(at)) {
        const there = leads.find(id);
        if (there !== null) return there;
        at = leads.firstFree(at);
      }
      if (at !== wanted) taken = { from: wanted, to: at };
      return at;
    },
  };
}
