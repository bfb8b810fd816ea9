/** A batch is taken back on a cluster: exactly the leads that it added, in short steps. */
import { and, asc, eq, gt, lte, sql } from "drizzle-orm";
import type { Connection } from "../../sqlite/connection.ts";
import { positionOf } from "../../sqlite/position.ts";
import { imports, leads } from "../../sqlite/schema.ts";
import type { Batch } from "../../store/batches.ts";
import type { Account } from "../../store/repositories.ts";
import { statementOf } from "../node/statement.ts";
import { auditStatement } from "../repositories.ts";
import type { Writer } from "../writer.ts";

/** Of so many leads those of the batch are deleted at once. */
const leadsAtOnce = 500;

/** Each step tells how many leads are gone. Cut short and begun again, it completes. */
export async function* undoClusterBatch(
  { database, writer }: { readonly database: Connection; readonly writer: Writer },
  account: Account,
  { number, oldestMs, newestMs }: Batch,
  nowMs: number,
): AsyncGenerator<number> {
  writer.catchUp();
  let removed = 0;
  for (let doneMs = (oldestMs ?? 0) - 1; newestMs !== null && doneMs < newestMs; ) {
    const within = and(
      eq(leads.account, account.number),
      gt(leads.identifiedAt, doneMs),
      lte(leads.identifiedAt, newestMs),
    );
    const some = database.select({ ms: leads.identifiedAt, batch: leads.import }).from(leads).where(within);
    const next = some.orderBy(asc(leads.identifiedAt)).limit(leadsAtOnce).all();
    const moments = next.filter(({ batch }) => batch === number).map(({ ms }) => ms);
    const position = positionOf(sql`${account.number}`, sql`value`);
    const those = sql`position IN (SELECT ${position} FROM json_each(${JSON.stringify(moments)}))`;
    if (moments.length > 0)
      writer.commit([statementOf(sql`DELETE FROM ${leads} WHERE ${those} AND import = ${number}`)]);
    removed += moments.length;
    doneMs = next.at(-1)?.ms ?? newestMs;
    yield removed;
  }
  const detail = { import: number, leads: removed };
  writer.commitEverywhere([
    statementOf(database.update(imports).set({ undoneAt: nowMs }).where(eq(imports.number, number))),
    auditStatement({ atMs: nowMs, act: "import.undo", account: account.id, detail }),
  ]);
  yield removed;
}
