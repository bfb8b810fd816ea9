/** Backups of a cluster: a copy of the file of the local node, as a file that a server without a cluster can serve. */
import { Database } from "bun:sqlite";
import { dirname, join, resolve } from "node:path";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { makeBackup } from "../../src/backup/backup.ts";
import type { Backups } from "../../src/backup/restore.ts";
import { createDraftFolder } from "../../src/db/files.ts";
import { migrateSchema, refuseUnusable } from "../../src/db/migrate.ts";
import { audit } from "../../src/db/schema.ts";
import { adminCommand } from "../../src/program-name.ts";
import { UserError } from "../../src/user-error.ts";
import { type ClusterDatabase, reasonFor } from "./database.ts";
import { request } from "./node.ts";
import { dropStatements } from "./tables.ts";

/** `onOld` is called with the reason if no majority answers, so that the copy may be old. */
export function openClusterBackups(database: ClusterDatabase, onOld: (reason: string) => void): Backups {
  return {
    async make(file, nowMs, stop) {
      // Nobody else may read a copy.
      process.umask(0o077);
      using folder = createDraftFolder(dirname(resolve(file)));
      const draft = join(folder.path, "node.db");
      try {
        // A node that is left alone may be all that there is.
        const reason = await reasonFor(database.catchUp());
        if (reason !== null) onOld(reason);
        // A large file takes as long as the disk does.
        await request(database.node, "GET", "/db/backup?noleader", 3_600_000, { saveTo: draft, stop }).catch(
          (cause) => {
            stop.throwIfAborted();
            throw cause;
          },
        );
        stop.throwIfAborted();
        migrateCopy(draft);
        const backup = await makeBackup(draft, file, nowMs, stop);
        const detail = JSON.stringify({ sha256: backup.sha256, leads: backup.leads });
        // The backup is complete, whether or not it can be recorded.
        const record = async () =>
          await database.write([
            database.read.insert(audit).values({ at: nowMs, act: "backup", account: null, detail }),
          ]);
        return { ...backup, unrecorded: reason ?? (await reasonFor(record())) };
      } finally {
        database.close();
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

/** Upgrades the copy to this version now: a command that opens it as a database would first make a backup of it. */
function migrateCopy(path: string): void {
  using client = new Database(path);
  // A server without a cluster has no use for them.
  for (const statement of dropStatements) client.run(statement);
  const database = drizzle({ client });
  refuseUnusable(database, path);
  migrateSchema(database, path, "no copy");
}
