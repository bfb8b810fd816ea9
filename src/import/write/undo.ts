/** Undoes an import: removes exactly the leads that it added, in short writes that block no other program. Works on a cluster too. */
import { and, between, eq, isNull, type SQL, sql } from "drizzle-orm";
import type { Account } from "../../db/accounts.ts";
import type { LeadDatabase } from "../../db/connection.ts";
import { findImport, type StoredImport } from "../../db/imports.ts";
import { audit, imports, leads } from "../../db/schema.ts";
import { deleteLeads } from "../../db/steps.ts";
import { forgetUnsentNumbers, rememberNumbers } from "../../privacy/sent/former-numbers.ts";
import { UserError } from "../../runtime/user-error.ts";

/**
 * Yields the number of leads that are removed so far, after each write. An undo that is interrupted is completed by the next
 * one. Throws a UserError if the import replaced leads of other imports.
 */
export async function* undoImport(
  database: LeadDatabase,
  account: Account,
  asked: StoredImport,
  now: () => number,
): AsyncGenerator<number> {
  const nowMs = now();
  let record = asked;
  let removed = 0;
  // An undo that is interrupted must not be listed as if all leads were there.
  const before = (read: LeadDatabase["read"], some: SQL | undefined) => [
    read.update(imports).set({ finishedAt: null }).where(undoable(asked.number)),
    rememberNumbers(some),
  ];
  while (record.undoneMs === null) {
    if (record.overwritten > 0) throw hasReplaced(record.number);
    const known = removed;
    for await (const some of deleteLeads(database, leadsOf(record, account), before)) yield (removed = known + some);
    await database.write(
      undoneStatements(account, record, { nowMs, removed, finishedMs: asked.finishedMs }),
      "everywhere",
    );
    await database.catchUp();
    // An import that still runs may have added leads since, or begun to replace others: then nothing was marked.
    record = findImport(database.read, account.number, record.number) ?? { ...record, undoneMs: nowMs };
  }
  await forgetUnsentNumbers(database, now);
  yield removed;
}

/** The leads that an import added, as long as it can still be undone. Its times spare a look at all leads of the account. */
function leadsOf({ number, oldestMs, newestMs }: StoredImport, account: Account): SQL | undefined {
  const within = between(leads.identifiedAt, oldestMs ?? 0, newestMs ?? 0);
  const canUndo = sql`EXISTS (SELECT 1 FROM ${imports} WHERE ${undoable(number)})`;
  return and(eq(leads.account, account.number), within, eq(leads.import, number), canUndo);
}

const undoable = (number: number) =>
  and(eq(imports.number, number), eq(imports.overwritten, 0), isNull(imports.undoneAt));

interface Undone {
  readonly nowMs: number;
  readonly removed: number;
  /** The end of the import, as it was before the undo. */
  readonly finishedMs: number | null;
}

/** The statements that mark an import as undone, unless its import has gone on since it was read. */
function undoneStatements({ id }: Account, { number, read }: StoredImport, { nowMs, removed, finishedMs }: Undone) {
  const unchanged = and(undoable(number), eq(imports.read, read));
  const detail = JSON.stringify({ import: number, leads: removed });
  return [
    sql`INSERT INTO ${audit} (at, act, account, detail)
        SELECT ${nowMs}, 'import.undo', ${id}, ${detail} FROM ${imports} WHERE ${unchanged}`,
    sql`UPDATE ${imports} SET undone_at = ${nowMs}, finished_at = ${finishedMs} WHERE ${unchanged}`,
  ];
}

/** The error of an import that replaced leads of other imports. */
export function hasReplaced(number: number): UserError {
  return new UserError(
    `Import ${number} replaced leads of other imports, whose content is not kept, so it cannot be undone.`,
    "If its file is still being imported, import it again when that is done. A backup from before has the old leads.",
  );
}
