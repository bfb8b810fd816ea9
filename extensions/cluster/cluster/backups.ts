/** Backups of a cluster: a backup of what the node beside has is a file that a server without a cluster serves. */
import { Database } from "bun:sqlite";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { makeBackup } from "../../../src/backup/backup.ts";
import type { Backups } from "../../../src/backup/restore.ts";
import { draftOf, removeDraft } from "../../../src/db/atomic-file.ts";
import { DatabaseUnavailable } from "../../../src/db/connection.ts";
import { migrateSchema } from "../../../src/db/migrate.ts";
import { audit } from "../../../src/db/schema.ts";
import { refuseUnusable } from "../../../src/db/schema-version.ts";
import { adminCommand } from "../../../src/program-name.ts";
import { UserError } from "../../../src/user-error.ts";
import { NodesDiffer, openClusterDatabase } from "../cluster-database.ts";
import { ask, type RqliteNode, requestTo, unreachableNode } from "../node/node.ts";
import { dropStatements } from "../tables.ts";

/** A large file takes as long as the disk does. */
const timeoutMs = 3_600_000;

/** `onUnheard` is called with the reason where no majority is heard, so that what is copied may be old. */
export function openClusterBackups(path: string, node: RqliteNode, onUnheard: (reason: string) => void): Backups {
  return {
    async make(file, nowMs, stop) {
      // What is in a copy is nobody else's business.
      process.umask(0o077);
      // Another node may be asked for a backup of the same name at the same time.
      const draft = draftOf(`${file}.from-node`);
      const cluster = openClusterDatabase(path, node);
      try {
        // A node that is left alone may be all that there is.
        const unheard = await reasonFor(cluster.catchUp());
        if (unheard !== null) onUnheard(unheard);
        const request = requestTo(node, "GET", "/db/backup?noleader", null, timeoutMs);
        const { status, text } = await ask({ ...request, saveTo: draft }, stop);
        stop.throwIfAborted();
        if (status !== 200) throw unreachableNode(text.trim());
        migrateCopy(draft);
        const backup = await makeBackup(draft, file, nowMs, stop);
        const detail = { sha256: backup.sha256, leads: backup.leads };
        // The backup is complete, whether or not it can be recorded.
        const act = { at: nowMs, act: "backup" as const, account: null, detail: JSON.stringify(detail) };
        const record = () =>
          cluster.write([
            sql`INSERT INTO ${audit} (at, act, account, detail)
          VALUES (${act.at}, ${act.act}, ${act.account}, ${act.detail})`,
          ]);
        return { ...backup, unrecorded: unheard ?? (await reasonFor(record())) };
      } finally {
        cluster.close();
        removeDraft(draft);
      }
    },
    async restore() {
      throw new UserError(
        "A cluster cannot be restored while its nodes serve.",
        "Make a backup of it as it is, and stop all nodes. Without CLUSTER and with another DATABASE_PATH, restore that " +
          "backup, and then the older one over it: what was erased and revoked since then stays so. Start a new cluster " +
          `with the file: ${adminCommand} cluster init FILE.`,
      );
    },
  };
}

/** Brings the fetched file to this version here: as a database it would be copied before. */
function migrateCopy(path: string): void {
  using client = new Database(path);
  // A server without a cluster has no use for them.
  for (const statement of dropStatements) client.run(statement);
  const database = drizzle({ client });
  refuseUnusable(database, path);
  migrateSchema(database, path, "no copy");
}

/** The reason why the cluster could not be read or written; null if it could. Throws what waiting does not solve. */
async function reasonFor(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (cause) {
    if (cause instanceof NodesDiffer || !(cause instanceof DatabaseUnavailable)) throw cause;
    return cause.message;
  }
}
