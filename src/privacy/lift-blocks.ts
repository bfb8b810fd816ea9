/** Lifts what keeps an erased person out, within a transaction of the caller. */
import { and, count, eq, type SQL } from "drizzle-orm";
import type { PersonIdentifier } from "../contract/person.ts";
import type { Connection } from "../db/connection.ts";
import { audit, suppressedDigests, suppressions } from "../db/schema.ts";
import type { Account } from "../store/repositories.ts";
import { digestsOf, spellingsOf } from "./identifiers.ts";
import { hashOf, listInstances } from "./suppressions.ts";

/** Lifts every block that an import would meet by this identifier, and no other one. Gives how many there were. */
export function liftBlocks(database: Connection, account: Account, identifier: PersonIdentifier): number {
  const { kind } = identifier;
  const hashes = listInstances(database).flatMap((instance) =>
    spellingsOf(identifier).map((value) => ({ instance, hash: hashOf(instance, account.id, { kind, value }) })),
  );
  const lifted = [
    ...hashes.map(({ instance, hash }) => {
      const one = and(eq(suppressions.instance, instance.number), eq(suppressions.hash, hash));
      return lift(database, suppressions, and(eq(suppressions.account, account.number), one));
    }),
    ...digestsOf(identifier).map((digest) => {
      const one = eq(suppressedDigests.digest, Buffer.from(digest, "hex"));
      return lift(database, suppressedDigests, and(eq(suppressedDigests.account, account.number), one));
    }),
  ];
  return lifted.filter((wasThere) => wasThere).length;
}

/** Whether it was there. Looked up before: on a cluster nobody knows yet how many rows a deletion meets. */
function lift(
  database: Connection,
  table: typeof suppressions | typeof suppressedDigests,
  one: SQL | undefined,
): boolean {
  const isThere = database.select({ account: table.account }).from(table).where(one).values().length > 0;
  if (isThere) database.delete(table).where(one).run();
  return isThere;
}

/** How often blocks were lifted, by the record. It only grows. */
export function countUnblockings(database: Connection): number {
  return database.select({ count: count() }).from(audit).where(eq(audit.act, "lead.unblock")).get()?.count ?? 0;
}
