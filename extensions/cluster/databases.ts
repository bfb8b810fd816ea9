/** Opens the database of the local rqlite node, for a server, for commands, and for backups. */
import { Database } from "bun:sqlite";
import { dirname, join, resolve } from "node:path";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { makeBackup } from "../../src/backup/backup.ts";
import type { Backups } from "../../src/backup/restore.ts";
import type { Databases } from "../../src/cli/contributions.ts";
import type { ClusterConfig } from "../../src/config.ts";
import { createDraftFolder } from "../../src/db/database-files.ts";
import { orElse } from "../../src/db/failure.ts";
import { migrateSchema, refuseUnusable } from "../../src/db/migrate.ts";
import { printMessage } from "../../src/runtime/process.ts";
import { adminCommand } from "../../src/runtime/program-name.ts";
import { UserError } from "../../src/runtime/user-error.ts";
import { askHealth } from "../../src/server/health.ts";
import { type ClusterDatabase, openClusterDatabase, reasonFor } from "./database.ts";
import { nodeAt, request } from "./node.ts";
import { openNodeFile } from "./node-file.ts";
import { openClusterStore } from "./served-store.ts";
import { listServers } from "./transactions.ts";

/** The time for which a command looks for a majority before it reads without one. */
const patienceMs = 2_000;

/** Returns the databases of the node that the settings name, instead of those of a file. */
export function clusterDatabases(path: string, cluster: ClusterConfig): Databases {
  const node = nodeAt(cluster);
  const database = openClusterDatabase(openNodeFile(path), node, nameUnreachable);
  return {
    now: database.now,
    /** The first server by name that serves sends the shared alerts. If none serves, each server sends them. */
    async sendsSharedAlerts() {
      const servers = orElse(() => listServers(database.read), []);
      database.close();
      for (const { name, url } of servers) if ((await askHealth(url)) === "fine") return name === node.name;
      return true;
    },
    openForServing: async (keepsLedger) => openClusterStore(path, node, keepsLedger),
    async prepareForCommands() {
      const [tried] = await Promise.allSettled([reasonFor(database.catchUp(patienceMs))]);
      database.close();
      // Commands such as cluster status do not open the database.
      return () => {
        if (tried.status === "rejected") throw tried.reason;
        if (tried.value !== null) warnOfAge(tried.value);
        return Object.assign(database, {
          importer: async () => (await import("./import.ts")).clusterImporter(database),
        });
      };
    },
    openBackups: async () => openBackups(database),
  };
}

function nameUnreachable(names: readonly string[]): void {
  const who =
    names.length === 1 ? `${names[0]} is unreachable. It serves` : `${names.join(", ")} are unreachable. They serve`;
  printMessage(`${who} nobody until the connection to the cluster is restored.`);
}

function warnOfAge(reason: string): void {
  printMessage(`${reason} The local node may show old data.`);
}

/** A backup is a copy of the file of the local node, which a server without a cluster can serve. */
function openBackups(database: ClusterDatabase): Backups {
  return {
    async make(file, nowMs, stop) {
      using folder = createDraftFolder(dirname(resolve(file)));
      const draft = join(folder.path, "node.db");
      try {
        // A node that is left alone may be all that there is.
        const reason = await reasonFor(database.catchUp());
        if (reason !== null) warnOfAge(reason);
        // A large file takes as long as the disk does.
        const copied = request(database.node, "GET", "/db/backup?noleader", 3_600_000, { saveTo: draft, stop });
        await copied.finally(() => stop.throwIfAborted());
        migrateCopy(draft);
        return await makeBackup(draft, file, nowMs, stop);
      } finally {
        database.close();
      }
    },
    async restore() {
      throw new UserError(
        "A cluster cannot be restored while its nodes run.",
        "Back up the cluster, and stop all nodes. Without CLUSTER and with another DATABASE_PATH, restore that " +
          "backup, and then the older one: this keeps later erasures and revocations. Start a new cluster " +
          `with the file: ${adminCommand} cluster init FILE.`,
      );
    },
  };
}

/** Upgrades the copy to this version now: a command that opens it as a database would first make a backup of it. */
function migrateCopy(path: string): void {
  using client = new Database(path);
  // A server without a cluster has no use for them.
  const tables = client.query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE name GLOB 'cluster_*'");
  for (const { name } of tables.all()) client.run(`DROP TABLE ${name}`);
  const database = drizzle({ client });
  refuseUnusable(database, path);
  migrateSchema(database, path, "no copy");
}
