/** A batch is taken back on a cluster: exactly the leads that it added, in short steps. */
import { and, asc, eq, gt, lte, sql } from "drizzle-orm";
import { insertAct } from "../../../src/db/audit.ts";
import type { Connection } from "../../../src/db/connection.ts";
import { imports, leads } from "../../../src/db/schema.ts";
import { findBatch } from "../../../src/import/write/batches.ts";
import { StoreError } from "../../../src/store/errors.ts";
import type { Batch } from "../../../src/store/imports.ts";
import type { Account } from "../../../src/store/repositories.ts";
import { statementOf } from "../node/statement.ts";
import { changed } from "../premise.ts";
import { type Writer, wentIn } from "../writer.ts";

/** A step looks at this many leads and deletes those of the batch. */
const leadsAtOnce = 500;

interface ClusterUndoing {
  readonly database: Connection;
  readonly writer: Writer;
}

/** Each step tells how many leads are gone. Cut short and begun again, it completes. */
export async function* undoClusterBatch(
  cluster: ClusterUndoing,
  account: Account,
  asked: Batch,
  nowMs: number,
): AsyncGenerator<number> {
  const { database, writer } = cluster;
  writer.catchUp();
  let removed = 0;
  for (let batch = asked, isDone = false; !isDone; ) {
    for (const some of removeLeads(cluster, account, batch)) {
      removed += some;
      yield removed;
    }
    isDone = recordUndo(cluster, account, batch, { nowMs, removed, finishedMs: asked.finishedMs });
    // An import that still runs has added leads since, also where this has been.
    if (!isDone) batch = findBatch(database, account.number, batch.number) ?? batch;
    if (batch.overwritten > 0) throw new StoreError({ kind: "undo overtaken", number: batch.number });
    // Another command was faster.
    isDone ||= batch.undoneMs !== null;
  }
  yield removed;
}

/** Deletes a few at a time, and tells how many. */
function* removeLeads({ database, writer }: ClusterUndoing, account: Account, { number, oldestMs, newestMs }: Batch) {
  for (let doneMs = (oldestMs ?? 0) - 1; newestMs !== null && doneMs < newestMs; ) {
    const within = and(
      eq(leads.account, account.number),
      gt(leads.identifiedAt, doneMs),
      lte(leads.identifiedAt, newestMs),
    );
    const some = database.select({ ms: leads.identifiedAt, batch: leads.import }).from(leads).where(within);
    const next = some.orderBy(asc(leads.identifiedAt)).limit(leadsAtOnce).all();
    const moments = next.filter(({ batch }) => batch === number).map(({ ms }) => ms);
    const those = sql`identified_at IN (SELECT value FROM json_each(${JSON.stringify(moments)}))`;
    const deletion = statementOf(
      sql`DELETE FROM ${leads} WHERE account = ${account.number} AND ${those} AND import = ${number}`,
    );
    // Cut short, it must not be listed as if all of it were there.
    const begun = statementOf(sql`UPDATE ${imports} SET finished_at = NULL WHERE number = ${number}`);
    const step = [deletion, changed(moments.length), begun];
    if (moments.length > 0 && !wentIn(writer, () => writer.commit(step))) continue;
    doneMs = next.at(-1)?.ms ?? newestMs;
    yield moments.length;
  }
}

/** What an undo leaves in the row of its batch. */
interface Undone {
  readonly nowMs: number;
  readonly removed: number;
  /** When the import was done, as it was before. */
  readonly finishedMs: number | null;
}

/** Says that a batch is taken back; false where its import has gone on since it was looked at, or somebody was faster. */
function recordUndo(
  { database, writer }: ClusterUndoing,
  account: Account,
  { number, read }: Batch,
  { nowMs, removed, finishedMs }: Undone,
): boolean {
  const detail = { import: number, leads: removed };
  const undone = sql`UPDATE ${imports} SET undone_at = ${nowMs}, finished_at = ${finishedMs}
    WHERE number = ${number} AND read = ${read} AND undone_at IS NULL`;
  const act = statementOf(insertAct(database, { atMs: nowMs, act: "import.undo", account: account.id, detail }));
  return wentIn(writer, () => writer.commitEverywhere([statementOf(undone), changed(1), act]));
}
