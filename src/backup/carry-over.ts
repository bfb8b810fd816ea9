/**
 * Carries over what must outlive a restore, as SQL. `main` is the restored database, and `old` is the replaced file or a
 * newer backup. Either of them may be the older one.
 */
import { type SQL, sql } from "drizzle-orm";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { type Connection, changedRows } from "../db/connection.ts";
import { openSoundness } from "./replaced.ts";

interface Part {
  readonly name: string;
  /** Statements that prepare the rows to which the part refers. */
  readonly prepares?: readonly SQL[];
  /** The number of rows that these statements change is reported. */
  readonly merges: readonly SQL[];
}

/** A part of the replaced file that a restore keeps, and the number of its rows that the backup lacked. */
export interface CarriedPart {
  readonly name: string;
  readonly count: number;
}

/**
 * Carries over the named parts, or all, and returns how many rows changed, and the parts that cannot be read. Often the old
 * file is damaged, which is why somebody restores. Call it outside a transaction: SQLite refuses to write in one that has
 * met damage.
 */
export function carryOver(database: Connection, nowMs: number, names?: readonly string[]) {
  const isSound = openSoundness(database);
  const carried: CarriedPart[] = [];
  const unread: string[] = [];
  for (const { name, prepares = [], merges } of partsAt(nowMs)) {
    if (names?.includes(name) === false) continue;
    if (![...prepares, ...merges].flatMap(tablesOf).every(isSound)) {
      unread.push(name);
      continue;
    }
    for (const statement of prepares) database.run(statement);
    let count = 0;
    for (const merge of merges) {
      database.run(merge);
      count += changedRows(database);
    }
    if (count > 0) carried.push({ name, count });
  }
  return { carried, unread };
}

/** The tables of `old` that a statement reads. */
function tablesOf(statement: SQL): string[] {
  const { sql: text } = new SQLiteSyncDialect().sqlToQuery(statement);
  return [...text.matchAll(/\bold\.(\w+)/g)].map(([, table = ""]) => table);
}

/** Joins a row of `old` with its account: the one with the same ID. */
const withAccount = sql`
  JOIN old.accounts AS old_account ON old_account.number = replaced.account
  JOIN main.accounts AS account ON account.id = old_account.id`;

/** Keeps accounts created since the backup if something of theirs is kept. A name that another one has gets the ID. */
const keepAccountsOf = (those: SQL) => sql`
  INSERT OR IGNORE INTO main.accounts (id, name, active, created_at)
  SELECT id, iif(name IN (SELECT name FROM main.accounts), name || ' ' || id, name), active, created_at
  FROM old.accounts WHERE number IN (SELECT account FROM ${those}) ORDER BY number`;

/** Takes over the earlier of two ends. */
const takeOverEnds = (table: string, column: "revoked_at" | "expires_at") =>
  sql.raw(`
    UPDATE main.${table} SET ${column} = replaced.${column} FROM old.${table} AS replaced
    WHERE replaced.digest = main.${table}.digest
      AND replaced.${column} < ifnull(main.${table}.${column}, ${Number.MAX_SAFE_INTEGER})`);

/** Takes over the last setting of each account, by the audit of both files. */
const followLast = (column: "active" | "retain_days", setting: string, acts: string) =>
  sql.raw(`
    UPDATE main.accounts SET ${column} = last.setting FROM (
      SELECT account, ${setting} AS setting, max(number) FROM main.audit WHERE act IN (${acts}) GROUP BY account
    ) AS last WHERE last.account = main.accounts.id AND last.setting IS NOT main.accounts.${column}`);

/** The newest decision for each hash wins, be it a block or the end of one. */
const newestDecision = sql.raw(`
  ON CONFLICT DO UPDATE SET erased_at = max(erased_at, excluded.erased_at),
    lifted_at = nullif(max(ifnull(lifted_at, -1), ifnull(excluded.lifted_at, -1)), -1)
  WHERE excluded.erased_at > erased_at OR ifnull(excluded.lifted_at, -1) > ifnull(lifted_at, -1)`);

/** Imports that were undone since the backup. What a restore has reverted, a newer backup has again. */
const undoneSince = sql`
  SELECT import.number, replaced.undone_at FROM old.imports AS replaced ${withAccount}
  JOIN main.imports AS import
    ON import.number = replaced.number AND import.at = replaced.at AND import.account = account.number
  WHERE replaced.undone_at IS NOT NULL AND import.undone_at IS NULL
    AND replaced.undone_at NOT IN (SELECT at FROM main.audit WHERE act = 'restore')`;

/** The parts in an order in which each finds the rows to which it refers. */
function partsAt(nowMs: number): readonly Part[] {
  return [
    namesOfDeletedAccounts,
    ...partsOfKeys(nowMs),
    sources,
    subscriptions,
    erasures,
    undoneImports,
    ledger,
    recordOfImports(nowMs),
    retention,
  ];
}

function partsOfKeys(nowMs: number): Part[] {
  // Keys created since the backup that are revoked or expired stay revoked forever (§5). A key that received leads stays,
  // too, and is revoked: the record of who received them names it.
  const keptKeys = sql`
    (SELECT * FROM old.keys
      WHERE revoked_at IS NOT NULL OR expires_at <= ${nowMs} OR number IN (SELECT key FROM old.disclosures))`;
  return [
    {
      name: "the audit",
      // In the order of their numbers: a clock may have been wrong.
      merges: [
        sql`
          INSERT INTO main.audit (at, act, account, detail)
          SELECT at, act, account, detail FROM old.audit
          WHERE (at, act, ifnull(account, ''), detail)
            NOT IN (SELECT at, act, ifnull(account, ''), detail FROM main.audit)
          ORDER BY number`,
      ],
    },
    {
      name: "revoked keys",
      prepares: [keepAccountsOf(keptKeys)],
      merges: [
        takeOverEnds("keys", "revoked_at"),
        sql`
          INSERT OR IGNORE INTO main.keys (account, id, digest, prefix, label, created_at, revoked_at, expires_at)
          SELECT account.number, replaced.id, replaced.digest, replaced.prefix, replaced.label, replaced.created_at,
            coalesce(replaced.revoked_at, min(replaced.expires_at, ${nowMs}), ${nowMs}), replaced.expires_at
          FROM ${keptKeys} AS replaced ${withAccount} ORDER BY replaced.number`,
      ],
    },
    { name: "expiries of keys", merges: [takeOverEnds("keys", "expires_at")] },
    {
      name: "days of usage",
      // The counts only grow, so the larger one is the later one.
      merges: [
        sql`
          INSERT INTO main.usage (key, day, requests)
          SELECT key.number, counted.day, counted.requests
          FROM old.usage AS counted JOIN old.keys AS replaced ON replaced.number = counted.key
          JOIN main.keys AS key ON key.digest = replaced.digest
          WHERE TRUE
          ON CONFLICT DO UPDATE SET requests = excluded.requests WHERE excluded.requests > requests`,
      ],
    },
  ];
}

/** A new account may have the name of a deleted one, which the restore removes in the end. */
const namesOfDeletedAccounts: Part = {
  name: "names of deleted accounts",
  prepares: [sql`UPDATE main.accounts SET name = id WHERE id IN (SELECT id FROM old.deleted_accounts)`],
  merges: [],
};

const sources: Part = {
  name: "sources",
  // Sources created since the backup stay: their deliveries were accepted, and may still be in the spool.
  prepares: [keepAccountsOf(sql`old.sources`)],
  merges: [
    takeOverEnds("sources", "revoked_at"),
    sql`
      INSERT OR IGNORE INTO main.sources (account, id, digest, prefix, label, options, created_at, revoked_at)
      SELECT account.number, replaced.id, replaced.digest, replaced.prefix, replaced.label, replaced.options,
        replaced.created_at, replaced.revoked_at
      FROM old.sources AS replaced ${withAccount} ORDER BY replaced.number`,
  ],
};

const subscriptions: Part = {
  name: "subscriptions",
  merges: [followLast("active", "act = 'account.activate'", "'account.activate', 'account.deactivate'")],
};

const erasures: Part = {
  name: "erasures",
  prepares: [
    sql`
      INSERT INTO main.instances (id, secret)
      SELECT id, secret FROM old.instances WHERE id NOT IN (SELECT id FROM main.instances) ORDER BY number`,
    ...["suppressions", "suppressed_digests", "receipts"].map((table) => keepAccountsOf(sql.raw(`old.${table}`))),
  ],
  merges: [
    sql`
      INSERT INTO main.suppressions (account, instance, hash, erased_at, lifted_at)
      SELECT account.number, instance.number, replaced.hash, replaced.erased_at, replaced.lifted_at
      FROM old.suppressions AS replaced ${withAccount}
      JOIN old.instances AS old_instance ON old_instance.number = replaced.instance
      JOIN main.instances AS instance ON instance.id = old_instance.id
      WHERE TRUE ${newestDecision}`,
    sql`
      INSERT INTO main.suppressed_digests (account, digest, erased_at, lifted_at)
      SELECT account.number, replaced.digest, replaced.erased_at, replaced.lifted_at
      FROM old.suppressed_digests AS replaced ${withAccount} WHERE TRUE ${newestDecision}`,
    sql`
      INSERT OR IGNORE INTO main.receipts (account, erased_at, identity, receipt, pending)
      SELECT account.number, replaced.erased_at, replaced.identity, replaced.receipt, replaced.pending
      FROM old.receipts AS replaced ${withAccount} ORDER BY replaced.number`,
    sql`
      INSERT OR IGNORE INTO main.deleted_accounts (id, deleted_at, leads)
      SELECT id, deleted_at, leads FROM old.deleted_accounts`,
    sql`INSERT OR IGNORE INTO main.deleted_keys (digest, account) SELECT digest, account FROM old.deleted_keys`,
  ],
};

const undoneImports: Part = {
  name: "undone imports",
  prepares: [sql`DELETE FROM main.stored_leads WHERE import IN (SELECT number FROM (${undoneSince}))`],
  merges: [
    sql`
      UPDATE main.imports SET undone_at = undone.undone_at FROM (${undoneSince}) AS undone
      WHERE undone.number = main.imports.number`,
  ],
};

const ledger: Part = {
  name: "the ledger of recipients",
  // The span of a page that may hold leads which the restore does not have says nothing about imports to come.
  prepares: [
    sql`
      INSERT INTO main.ledger_gaps (node, begins_at, ends_at, reason)
      SELECT node, begins_at, ends_at, reason FROM old.ledger_gaps AS gap WHERE NOT EXISTS (
        SELECT 1 FROM main.ledger_gaps AS known WHERE known.node = gap.node AND known.begins_at = gap.begins_at)`,
    sql`
      UPDATE main.ledger_gaps SET ends_at = gap.ends_at FROM old.ledger_gaps AS gap
      WHERE gap.node = main.ledger_gaps.node AND gap.begins_at = main.ledger_gaps.begins_at
        AND main.ledger_gaps.ends_at IS NULL`,
  ],
  merges: [
    sql`
      INSERT INTO main.disclosures (key, day, filter, oldest, newest, seen)
      SELECT key.number, page.day, page.filter, page.oldest, page.newest,
        iif(page.seen / 2 <= (SELECT max(number) FROM main.imports), page.seen, NULL)
      FROM old.disclosures AS page JOIN old.keys AS replaced ON replaced.number = page.key
      JOIN main.keys AS key ON key.digest = replaced.digest
      WHERE NOT EXISTS (
        SELECT 1 FROM main.disclosures AS known WHERE known.key = key.number AND known.day = page.day
          AND known.filter = page.filter AND known.oldest = page.oldest AND known.newest >= page.newest)
      ON CONFLICT DO UPDATE SET newest = excluded.newest, seen = excluded.seen`,
  ],
};

const recordOfImports = (nowMs: number): Part => ({
  name: "the record of imports",
  merges: [
    // An import that ran during the backup went on. The restore has reverted what it added since, as if it was cut
    // short.
    sql`
      UPDATE main.imports SET oldest = reach.oldest, newest = reach.newest FROM (
        SELECT replaced.number, replaced.at, replaced.oldest, replaced.newest, account.number AS account
        FROM old.imports AS replaced ${withAccount} WHERE replaced.newest IS NOT NULL
      ) AS reach
      WHERE reach.number = main.imports.number AND reach.at = main.imports.at
        AND reach.account = main.imports.account AND main.imports.finished_at IS NULL
        AND reach.newest > ifnull(main.imports.newest, ${Number.MIN_SAFE_INTEGER})`,
    // The restore reverts imports since the backup. Usually their files are imported again, and then the ledger
    // still says who has received their leads before.
    sql`
      INSERT INTO main.imports (number, account, at, finished_at, file, "by", rejects_file, read, imported,
        duplicates, replaced, overwritten, moved, late, suppressed, rejected, oldest, newest, undone_at)
      SELECT replaced.number, account.number, replaced.at, finished_at, file, "by", rejects_file, read, imported,
        duplicates, replaced, overwritten, moved, late, suppressed, rejected, oldest, newest,
        coalesce(undone_at, ${nowMs})
      FROM old.imports AS replaced ${withAccount}
      WHERE replaced.number NOT IN (SELECT number FROM main.imports)`,
  ],
});

/** Even if it keeps everything: an older setting would erase what the owner wants. */
const retention: Part = {
  name: "retention",
  merges: [followLast("retain_days", "detail ->> '$.days'", "'retain.set'")],
};
