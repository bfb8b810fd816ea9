/** When leads came: the UTC days on which an import wrote them, and later imports that may have replaced them. */
import { eq } from "drizzle-orm";
import { dayMs, dayOf } from "../../../contract/time.ts";
import type { AccountNumber } from "../../../store/reading.ts";
import type { Connection } from "../../connection.ts";
import { imports } from "../../schema.ts";

interface Arrival {
  /** A lead was not there on any day before this one. */
  readonly firstDay: string;
  /** It was there on every later day than this one. */
  readonly lastDay: string;
}

/** A lead of an unknown import may have come on any day. */
const unknown: Arrival = { firstDay: "", lastDay: "~" };

export function openArrivals(database: Connection, account: AccountNumber) {
  const rows = database
    .select({
      number: imports.number,
      at: imports.at,
      finishedAt: imports.finishedAt,
      replaced: imports.replaced,
      oldest: imports.oldest,
      newest: imports.newest,
      undoneAt: imports.undoneAt,
    })
    .from(imports)
    .where(eq(imports.account, account))
    .all();
  // An import that was cut short ran for less than a day.
  const arrivals = rows.map(({ number, at, finishedAt, replaced }) => ({
    number,
    replaced,
    arrival: { firstDay: dayOf(at), lastDay: dayOf(finishedAt ?? at + dayMs) },
  }));
  const byNumber = new Map(arrivals.map(({ number, arrival }) => [number, arrival]));
  const replacing = arrivals.filter(({ replaced }) => replaced > 0);
  const undone = rows.flatMap(({ at, oldest, newest, undoneAt }) =>
    undoneAt === null || oldest === null || newest === null
      ? []
      : [{ oldest, newest, firstDay: dayOf(at), lastDay: dayOf(undoneAt) }],
  );
  return {
    of: (batch: number): Arrival => byNumber.get(batch) ?? unknown,
    /** Whether a lead of an import may have had other values on a day than it has now. */
    mayHaveReplaced: (batch: number, day: string): boolean =>
      replacing.some(({ number, arrival }) => number > batch && day <= arrival.lastDay),
    /** Whether a lead may have been there on a day before it came, by an import that was taken back since. */
    mayHaveBeenThere: (ms: number, day: string): boolean =>
      undone.some(
        ({ oldest, newest, firstDay, lastDay }) => oldest <= ms && ms <= newest && firstDay <= day && day <= lastDay,
      ),
  };
}
