/**
 * What must outlive a restore: whoever was erased stays erased, a revoked key stays revoked, what an account promises
 * to keep no longer is not kept again, and the record of it all goes on. `old` is the file that is replaced.
 */
import { type SQL, sql } from "drizzle-orm";
import type { Lead } from "../../contract/lead.ts";
import type { Connection } from "../connection.ts";
import { exportDocuments } from "../leads.ts";
import { openDeletion } from "../privacy/deletion.ts";
import { accountsWithBlocks, openSuppressions } from "../privacy/suppressions.ts";
import { traitsOf } from "../privacy/traits.ts";

/** Brings over what can be read; to be called within a transaction. */
export function mergeReplaced(database: Connection, readable: readonly Part[]): void {
  for (const { merges } of readable) for (const merge of merges) database.run(merge);
}

const keepRevocations = sql`
  UPDATE main.keys SET revoked_at = replaced.revoked_at FROM old.keys AS replaced
  WHERE replaced.digest = main.keys.digest AND replaced.revoked_at IS NOT NULL AND main.keys.revoked_at IS NULL`;

const keepExpiries = sql`
  UPDATE main.keys SET expires_at = replaced.expires_at FROM old.keys AS replaced
  WHERE replaced.digest = main.keys.digest AND replaced.expires_at IS NOT NULL`;

const keepRetention = sql`
  UPDATE main.accounts SET retain_days = replaced.retain_days FROM old.accounts AS replaced
  WHERE replaced.id = main.accounts.id AND replaced.retain_days IS NOT NULL`;

/** The last word of both files holds, be it that all is kept: the older one would erase what the owner wants. */
const followLastRetention = sql`
  UPDATE main.accounts SET retain_days = last.days FROM (
    SELECT account, detail ->> '$.days' AS days, max(at) FROM main.audit WHERE act = 'retain.set' GROUP BY account
  ) AS last WHERE last.account = main.accounts.id`;

const mergeSuppressions = [
  sql`
    INSERT INTO main.instances (id, secret)
    SELECT id, secret FROM old.instances WHERE id NOT IN (SELECT id FROM main.instances) ORDER BY number`,
  sql`
    INSERT OR IGNORE INTO main.suppressions (account, instance, hash, erased_at)
    SELECT account.number, instance.number, suppression.hash, suppression.erased_at
    FROM old.suppressions AS suppression
    JOIN old.accounts AS old_account ON old_account.number = suppression.account
    JOIN main.accounts AS account ON account.id = old_account.id
    JOIN old.instances AS old_instance ON old_instance.number = suppression.instance
    JOIN main.instances AS instance ON instance.id = old_instance.id`,
];

const keepAudit = sql`
  INSERT INTO main.audit (at, act, account, detail)
  SELECT at, act, account, detail FROM (
    SELECT at, act, account, detail FROM old.audit EXCEPT SELECT at, act, account, detail FROM main.audit
  ) ORDER BY at`;

export interface Part {
  readonly name: string;
  /** The tables that it is read from. */
  readonly tables: readonly string[];
  readonly merges: readonly SQL[];
}

/** In the first version nobody was erased, and only keys could be revoked. */
export const partsOfFirst: readonly Part[] = [{ name: "revoked keys", tables: ["keys"], merges: [keepRevocations] }];

export const allParts: readonly Part[] = [
  ...partsOfFirst,
  { name: "expiries of keys", tables: ["keys"], merges: [keepExpiries] },
  { name: "erasures", tables: ["suppressions", "instances", "accounts"], merges: mergeSuppressions },
  { name: "retention", tables: ["accounts"], merges: [keepRetention] },
  { name: "the audit", tables: ["audit"], merges: [keepAudit, followLastRetention] },
];

/** Deletes every lead of a person who is blocked in its account; how many there were. */
export function eraseAgain(database: Connection): number {
  let erased = 0;
  for (const account of accountsWithBlocks(database)) {
    const isBlocked = openSuppressions(database, account);
    const remove = openDeletion(database, account.number);
    for (const documents of exportDocuments(database, account.number)) {
      const gone = documents.map((document): Lead => JSON.parse(document)).filter((lead) => isBlocked(traitsOf(lead)));
      for (const lead of gone) remove(lead);
      erased += gone.length;
    }
  }
  return erased;
}
