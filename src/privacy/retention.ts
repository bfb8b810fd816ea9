/** Leads are kept for as long as their account says, and erased after that, bytes and all. */
import { and, asc, count, eq, isNotNull, lt, type SQL, sql } from "drizzle-orm";
import { oldestKeptMs } from "../contract/calendar.ts";
import type { Lead } from "../contract/lead.ts";
import { recordAct } from "../db/audit.ts";
import type { Connection } from "../db/connection.ts";
import { type Descriptors, keepDescriptors } from "../db/file.ts";
import { accounts, leads } from "../db/schema.ts";
import type { OnLook, Retaining, RetentionRepository, Traces } from "../store/privacy.ts";
import type { Account } from "../store/repositories.ts";
import { areDisclosuresOld, forgetOldDisclosures } from "./disclosures/disclosures.ts";
import { openDeletion } from "./one-lead.ts";
import { isFarAhead } from "./retention-hold.ts";
import { type Wanted, wantedOf } from "./search/forms.ts";
import { mostLookedFor, removeTraces } from "./search/traces.ts";
import { areTracesLeft, openTraces } from "./traces-left.ts";

/** Deleting this many takes some 30 ms, and nobody waits longer for it. */
const leadsAtOnce = 500;

type Keeping = Pick<Account, "number" | "id"> & { readonly retainDays: number };

/** Removes the bytes of erased leads from all files. Too many leads are not looked for one by one. */
type RemoveTraces = (wanted: readonly Wanted[], mustRewrite: boolean, onLook: OnLook) => Traces;

/** Retention on the one file. */
export function openRetention(database: Connection): RetentionRepository {
  return openRetentionWith(database, removingFrom(database, keepDescriptors()));
}

/** Retention with another way to remove bytes, as on a cluster. */
export function openRetentionWith(database: Connection, remove: RemoveTraces): RetentionRepository {
  return {
    survey(number, days, nowMs) {
      const older = sql<number>`count(*) FILTER (WHERE ${isTooOld({ number, retainDays: days }, nowMs)})`;
      const counts = database.select({ older, all: count() }).from(leads).where(eq(leads.account, number));
      return { older: 0, all: 0, ...counts.get(), isFarAhead: isFarAhead(database, nowMs) };
    },
    set(account, days, nowMs) {
      // Set first: what an import brings from here on is young enough.
      const write = () => {
        database.update(accounts).set({ retainDays: days }).where(eq(accounts.number, account.number)).run();
        recordAct(database, { atMs: nowMs, act: "retain.set", account: account.id, detail: { days } });
      };
      database.transaction(write, { behavior: "immediate" });
      if (days === null) return { steps: () => [], completesEarlier: false, removeTraces: () => noTraces };
      return retain(database, [{ ...account, retainDays: days }], nowMs, remove);
    },
  };
}

/** There are no bytes to look for, or none that could be removed from here. */
export const noTraces: Traces = { gone: true, bytes: 0, sharedBy: [], copies: [], givenNames: [] };

/**
 * Whether any account has leads that are older than it keeps, or bytes of such leads are still to be looked for; or the
 * ledger has what is too old.
 */
export function isRetentionDue(database: Connection, nowMs: number): boolean {
  if (areTracesLeft(database) || areDisclosuresOld(database, nowMs)) return true;
  return accountsKeeping(database).some((account) => isAny(database, isTooOld(account, nowMs)));
}

/** Whether a lead of an account is older than it keeps. */
function isTooOld({ number, retainDays }: Omit<Keeping, "id">, nowMs: number): SQL | undefined {
  return and(eq(leads.account, number), lt(leads.identifiedAt, oldestKeptMs(retainDays, nowMs)));
}

function isAny(database: Connection, those: SQL | undefined): boolean {
  return database.select({ ms: leads.identifiedAt }).from(leads).where(those).limit(1).values().length > 0;
}

/** Erases what is older than its account keeps, and puts it on record. Of the ledger goes what is too old. */
export function applyRetention(database: Connection, nowMs: number, remove: RemoveTraces) {
  forgetOldDisclosures(database, nowMs);
  const retaining = retain(database, accountsKeeping(database), nowMs, remove);
  const erased = [...retaining.steps()].at(-1) ?? 0;
  return { erased, traces: retaining.removeTraces(() => undefined) };
}

/** Removes bytes from the one file, its log and what lies beside them. */
export function removingFrom(database: Connection, descriptors: Descriptors): RemoveTraces {
  return (wanted, mustRewrite, onLook) => removeTraces(database, wanted, descriptors, mustRewrite, onLook);
}

function accountsKeeping(database: Connection): Keeping[] {
  return database
    .select({ number: accounts.number, id: accounts.id, retainDays: sql<number>`${accounts.retainDays}` })
    .from(accounts)
    .where(isNotNull(accounts.retainDays))
    .all();
}

function retain(database: Connection, keeping: readonly Keeping[], nowMs: number, remove: RemoveTraces): Retaining {
  const left = openTraces(database);
  const completesEarlier = left.wereLeft;
  let erased = 0;
  const wanted: Wanted[] = [];
  return {
    *steps() {
      for (const account of keeping) {
        const before = erased;
        try {
          for (const gone of eraseOlder(database, account, nowMs, left.note)) {
            erased += gone.length;
            if (erased <= mostLookedFor) wanted.push(...gone.flatMap(wantedOf));
            yield erased;
          }
        } finally {
          // Also where the caller asks for no further step.
          const detail = { days: account.retainDays, erased: erased - before };
          if (erased > before) recordAct(database, { atMs: nowMs, act: "retain.erase", account: account.id, detail });
        }
      }
    },
    completesEarlier,
    removeTraces(onLook) {
      if (erased === 0 && !completesEarlier) return noTraces;
      // What the last one has erased is not known any more, so it cannot be looked for.
      const traces = remove(wanted, completesEarlier || erased > mostLookedFor, onLook);
      if (traces.gone) left.forget();
      return traces;
    },
  };
}

/** Deletes in short transactions, oldest first, and hands on what was deleted. */
function* eraseOlder(
  database: Connection,
  account: Keeping,
  nowMs: number,
  note: () => void,
): Generator<readonly Lead[]> {
  const older = database.select({ doc: leads.doc }).from(leads).where(isTooOld(account, nowMs));
  const some = older.orderBy(asc(leads.identifiedAt));
  const remove = openDeletion(database, account.number);
  for (;;) {
    const gone = database.transaction(
      () => {
        const rows = some.limit(leadsAtOnce).all();
        if (rows.length === 0) return [];
        for (const { doc } of rows) remove(doc);
        note();
        return rows.map(({ doc }): Lead => JSON.parse(doc));
      },
      { behavior: "immediate" },
    );
    if (gone.length === 0) return;
    yield gone;
  }
}
