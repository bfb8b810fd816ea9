/**
 * The parts of a replaced file that outlive a restore, as SQL. `main` is what is restored and `old` the file that is
 * replaced; either of them may be the older one.
 */
import { type SQL, sql } from "drizzle-orm";

export interface Part {
  readonly name: string;
  /** The tables that it is read from. */
  readonly tables: readonly string[];
  /** What it needs in place before. */
  readonly prepares?: (nowMs: number) => readonly SQL[];
  /** How many rows these change is said of the part. */
  readonly merges: (nowMs: number) => readonly SQL[];
}

/** The account of a row of the replaced file is the one with the same id. */
const withAccount = sql`
  JOIN old.accounts AS old_account ON old_account.number = replaced.account
  JOIN main.accounts AS account ON account.id = old_account.id`;

/** Accounts that were made since the backup stay where something stays that is theirs. */
const keepAccountsOf = (those: SQL) => sql`
  INSERT OR IGNORE INTO main.accounts (id, name, active, created_at)
  SELECT id, name, active, created_at FROM old.accounts WHERE number IN (SELECT account FROM ${those}) ORDER BY number`;

/** The end of what both files have is as the replaced file has it, where the backup has none, or a later one. */
const takeOverEnds = (table: string, column: "revoked_at" | "expires_at") =>
  sql.raw(`
    UPDATE main.${table} SET ${column} = replaced.${column} FROM old.${table} AS replaced
    WHERE replaced.digest = main.${table}.digest
      AND replaced.${column} < ifnull(main.${table}.${column}, ${Number.MAX_SAFE_INTEGER})`);

/**
 * Keys that were made since the backup, and were revoked or have expired, stay revoked for ever (§5). A key that
 * received leads stays, too: the restore has no such key, but the record of who received them names it.
 */
const keptKeys = (nowMs: number) => sql`
  (SELECT * FROM old.keys
    WHERE revoked_at IS NOT NULL OR expires_at <= ${nowMs} OR number IN (SELECT key FROM old.disclosures))`;

const keepRevokedKeys = (nowMs: number) => sql`
  INSERT OR IGNORE INTO main.keys (account, id, digest, prefix, label, created_at, revoked_at, expires_at)
  SELECT account.number, replaced.id, replaced.digest, replaced.prefix, replaced.label, replaced.created_at,
    coalesce(replaced.revoked_at, min(replaced.expires_at, ${nowMs}), ${nowMs}), replaced.expires_at
  FROM ${keptKeys(nowMs)} AS replaced ${withAccount} ORDER BY replaced.number`;

/** Sources that were made since the backup stay: what they delivered was answered, and may still wait in the spool. */
const keepSources = sql`
  INSERT OR IGNORE INTO main.sources (account, id, digest, prefix, label, options, created_at, revoked_at)
  SELECT account.number, replaced.id, replaced.digest, replaced.prefix, replaced.label, replaced.options,
    replaced.created_at, replaced.revoked_at
  FROM old.sources AS replaced ${withAccount}
  ORDER BY replaced.number`;

/** The counts only grow, so the larger one is the later one. */
const keepUsage = sql`
  INSERT INTO main.usage (key, day, requests)
  SELECT key.number, counted.day, counted.requests
  FROM old.usage AS counted JOIN old.keys AS replaced ON replaced.number = counted.key
  JOIN main.keys AS key ON key.digest = replaced.digest
  WHERE TRUE
  ON CONFLICT DO UPDATE SET requests = excluded.requests WHERE excluded.requests > requests`;

/** In the order of their numbers: a clock may have been wrong. */
const keepAudit = sql`
  INSERT INTO main.audit (at, act, account, detail)
  SELECT at, act, account, detail FROM old.audit
  WHERE (at, act, ifnull(account, ''), detail) NOT IN (SELECT at, act, ifnull(account, ''), detail FROM main.audit)
  ORDER BY number`;

/** What an account was set to last, by the record of both files: either of them may be the older one. */
const followLast = (column: "active" | "retain_days", setting: string, acts: string) =>
  sql.raw(`
    UPDATE main.accounts SET ${column} = last.setting FROM (
      SELECT account, ${setting} AS setting, max(number) FROM main.audit WHERE act IN (${acts}) GROUP BY account
    ) AS last WHERE last.account = main.accounts.id AND last.setting IS NOT main.accounts.${column}`);
const followSubscriptions = followLast(
  "active",
  "act = 'account.activate'",
  "'account.activate', 'account.deactivate'",
);
/** Even if it keeps everything: an older one would erase what the owner wants. */
const followRetention = followLast("retain_days", "detail ->> '$.days'", "'retain.set'");

const mergeInstances = sql`
  INSERT INTO main.instances (id, secret)
  SELECT id, secret FROM old.instances WHERE id NOT IN (SELECT id FROM main.instances) ORDER BY number`;

const mergeSuppressions = sql`
  INSERT OR IGNORE INTO main.suppressions (account, instance, hash, erased_at)
  SELECT account.number, instance.number, replaced.hash, replaced.erased_at
  FROM old.suppressions AS replaced ${withAccount}
  JOIN old.instances AS old_instance ON old_instance.number = replaced.instance
  JOIN main.instances AS instance ON instance.id = old_instance.id`;

const mergeDigests = sql`
  INSERT OR IGNORE INTO main.suppressed_digests (account, digest, erased_at)
  SELECT account.number, replaced.digest, replaced.erased_at FROM old.suppressed_digests AS replaced ${withAccount}`;

/** Imports that were undone since the backup, as the old file knows. What a restore has taken back, a newer backup has. */
const undoneSince = sql`
  SELECT import.number, replaced.undone_at FROM old.imports AS replaced ${withAccount}
  JOIN main.imports AS import
    ON import.number = replaced.number AND import.at = replaced.at AND import.account = account.number
  WHERE replaced.undone_at IS NOT NULL AND import.undone_at IS NULL
    AND replaced.undone_at NOT IN (SELECT at FROM main.audit WHERE act = 'restore')`;

const takeBackLeads = sql`DELETE FROM main.stored_leads WHERE import IN (SELECT number FROM (${undoneSince}))`;

const keepUndone = sql`
  UPDATE main.imports SET undone_at = undone.undone_at FROM (${undoneSince}) AS undone
  WHERE undone.number = main.imports.number`;

/**
 * Imports since the backup: what they added is taken back by the restore. Their files are imported again, mostly, and then
 * the ledger still says who has received their leads before.
 */
const keepImports = (nowMs: number) => sql`
  INSERT INTO main.imports (number, account, at, finished_at, file, "by", rejects_file, read, imported, duplicates,
    replaced, overwritten, moved, late, suppressed, rejected, oldest, newest, undone_at)
  SELECT replaced.number, account.number, replaced.at, finished_at, file, "by", rejects_file, read, imported, duplicates,
    replaced, overwritten, moved, late, suppressed, rejected, oldest, newest, coalesce(undone_at, ${nowMs})
  FROM old.imports AS replaced ${withAccount}
  WHERE replaced.number NOT IN (SELECT number FROM main.imports)`;

/** An import that ran during the backup went on. The restore has taken back what it added since, as if it was cut short. */
const reachOfImports = sql`
  UPDATE main.imports SET oldest = reach.oldest, newest = reach.newest FROM (
    SELECT replaced.number, replaced.at, replaced.oldest, replaced.newest, account.number AS account
    FROM old.imports AS replaced ${withAccount} WHERE replaced.newest IS NOT NULL
  ) AS reach
  WHERE reach.number = main.imports.number AND reach.at = main.imports.at AND reach.account = main.imports.account
    AND main.imports.finished_at IS NULL AND reach.newest > ifnull(main.imports.newest, ${Number.MIN_SAFE_INTEGER})`;

const mergeDisclosures = sql`
  INSERT INTO main.disclosures (key, day, filter, oldest, newest)
  SELECT key.number, page.day, page.filter, page.oldest, page.newest
  FROM old.disclosures AS page JOIN old.keys AS replaced ON replaced.number = page.key
  JOIN main.keys AS key ON key.digest = replaced.digest
  WHERE NOT EXISTS (
    SELECT 1 FROM main.disclosures AS known WHERE known.key = key.number AND known.day = page.day
      AND known.filter = page.filter AND known.oldest = page.oldest AND known.newest >= page.newest)
  ON CONFLICT DO UPDATE SET newest = excluded.newest`;

/** In this order each part finds the rows to which it refers. */
export const allParts: readonly Part[] = [
  { name: "the audit", tables: ["audit"], merges: () => [keepAudit] },
  {
    name: "revoked keys",
    tables: ["keys", "accounts", "disclosures"],
    prepares: (nowMs) => [keepAccountsOf(keptKeys(nowMs))],
    merges: (nowMs) => [takeOverEnds("keys", "revoked_at"), keepRevokedKeys(nowMs)],
  },
  { name: "expiries of keys", tables: ["keys"], merges: () => [takeOverEnds("keys", "expires_at")] },
  { name: "days of usage", tables: ["usage", "keys"], merges: () => [keepUsage] },
  {
    name: "sources",
    tables: ["sources", "accounts"],
    prepares: () => [keepAccountsOf(sql`old.sources`)],
    merges: () => [takeOverEnds("sources", "revoked_at"), keepSources],
  },
  { name: "subscriptions", tables: ["audit"], merges: () => [followSubscriptions] },
  {
    name: "erasures",
    tables: ["suppressions", "suppressed_digests", "instances", "accounts"],
    prepares: () => [
      mergeInstances,
      keepAccountsOf(sql`old.suppressions`),
      keepAccountsOf(sql`old.suppressed_digests`),
    ],
    merges: () => [mergeSuppressions, mergeDigests],
  },
  {
    name: "undone imports",
    tables: ["imports", "accounts"],
    prepares: () => [takeBackLeads],
    merges: () => [keepUndone],
  },
  {
    name: "the record of imports",
    tables: ["imports", "accounts"],
    merges: (nowMs) => [reachOfImports, keepImports(nowMs)],
  },
  { name: "the ledger of recipients", tables: ["disclosures", "keys"], merges: () => [mergeDisclosures] },
  { name: "retention", tables: ["audit"], merges: () => [followRetention] },
];
