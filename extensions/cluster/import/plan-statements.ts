/** A plan as the statements of one transaction: it goes in as it was made, or SQLite refuses all of it. */
import { sql } from "drizzle-orm";
import type { AccountNumber } from "../../../src/db/accounts.ts";
import { accounts, audit, imports, leads, suppressedDigests, suppressions } from "../../../src/db/schema.ts";
import type { Statement } from "../node/node.ts";
import { statementOf } from "../node/statement.ts";
import { premise } from "../transaction.ts";
import type { Plan, PlannedLead, Premises } from "./plan.ts";

/** The account and the batch that a plan is for, and whether the batch has a row. */
interface PlanOf {
  readonly account: AccountNumber;
  readonly batch: number;
  readonly isThere: boolean;
}

/** The first statement fails where a premise no longer holds, and the transaction with it. */
export function statementsOf(plan: Plan, of: PlanOf): Statement[] {
  return [
    premisesStatement(plan.premises, of),
    ...(plan.added.length === 0 ? [] : [insertStatement(plan.added, of)]),
    ...(plan.replaced.length === 0 ? [] : [replaceStatement(plan.replaced, of)]),
  ];
}

function premisesStatement(premises: Premises, { account, batch, isThere }: PlanOf) {
  const { blocks, unblockings, retainDays, there, newestMs } = premises;
  const blocked = sql`(SELECT count(*) FROM ${suppressions} WHERE account = ${account})
    + (SELECT count(*) FROM ${suppressedDigests} WHERE account = ${account})`;
  const ids = JSON.stringify(there.map(withoutHyphens));
  // CROSS: SQLite would go through the whole account, and through all ids for each of its leads.
  const stillThere = sql`SELECT count(*) FROM json_each(${ids}) AS one
    CROSS JOIN stored_leads AS lead ON lead.account = ${account} AND lead.uuid = unhex(one.value)`;
  const newest = sql`(SELECT max(identified_at) FROM ${leads} WHERE account = ${account}) IS ${newestMs ?? null}`;
  const batchStays = sql`EXISTS (SELECT 1 FROM ${imports} WHERE number = ${batch} AND undone_at IS NULL)`;
  const unblocked = sql`(SELECT count(*) FROM ${audit} WHERE act = 'lead.unblock')`;
  return premise(sql`${blocked} = ${blocks} AND ${unblocked} = ${unblockings}
    AND (SELECT retain_days FROM ${accounts} WHERE number = ${account}) IS ${retainDays}
    AND (${stillThere}) = ${there.length}
    AND ${newestMs === undefined ? sql`1` : newest} AND ${isThere ? batchStays : sql`1`}`);
}

/** Without ON CONFLICT: a moment or an id that is taken by now ends the transaction. */
function insertStatement(added: readonly PlannedLead[], { account, batch }: PlanOf): Statement {
  return withRows(
    added,
    sql`INSERT INTO ${leads} (account, identified_at, uuid, pixel, state, city_key, has_email, doc, import)
        SELECT ${sql.raw(String(account))}, value ->> 0, unhex(value ->> 1), value ->> 2, value ->> 3, value ->> 4,
          value ->> 5, value ->> 6, ${sql.raw(String(batch))} FROM json_each(?1)`,
  );
}

function replaceStatement(replaced: readonly PlannedLead[], { account }: PlanOf): Statement {
  // The leads are found by their ids first. Left to itself SQLite would go through the whole account for them.
  const found = sql`SELECT lead.number AS number, one.value AS value FROM json_each(?1) AS one
    CROSS JOIN ${leads} AS lead ON lead.account = ${sql.raw(String(account))} AND lead.identified_at = one.value ->> 0
      AND lead.uuid = unhex(one.value ->> 1)`;
  return withRows(
    replaced,
    sql`WITH found AS MATERIALIZED (${found})
        UPDATE ${leads} SET pixel = value ->> 2, state = value ->> 3, city_key = value ->> 4, has_email = value ->> 5,
          doc = value ->> 6
        FROM found WHERE stored_leads.number = found.number`,
  );
}

/** The rows are the one JSON text themselves: within another one every quote of a document would be written twice. */
function withRows(rows: readonly PlannedLead[], query: ReturnType<typeof sql>): Statement {
  const { sql: text } = statementOf(query);
  const values = rows.map(({ id, at, pixel, state, cityKey, hasEmail, doc }) => {
    return [at, withoutHyphens(id), pixel, state, cityKey, Number(hasEmail), doc];
  });
  return { sql: text, json: JSON.stringify(values) };
}

function withoutHyphens(id: string): string {
  return id.replaceAll("-", "");
}
