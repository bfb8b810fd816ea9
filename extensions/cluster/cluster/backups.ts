/** Backups of a cluster: a backup of what the node beside has is a file that a server without a cluster serves. */
import { Database } from "bun:sqlite";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { makeBackup } from "../../../src/backup/backup.ts";
import type { Backups } from "../../../src/backup/restore.ts";
import { draftOf, removeDraft } from "../../../src/db/atomic-file.ts";
import { recordAct } from "../../../src/db/audit.ts";
import { migrateSchema, refuseUnusable } from "../../../src/db/migrate.ts";
import { StoreError } from "../../../src/store/errors.ts";
import { openCapturing } from "../capturing.ts";
import { ask, type RqliteNode, requestTo } from "../node/node.ts";
import { failureOf, openWriter } from "../writer.ts";

/** A large file takes as long as the disk does. */
const timeoutMs = 3_600_000;

/** `onUnheard` is called with the reason where no majority is heard, so that what is copied may be old. */
export function openClusterBackups(path: string, node: RqliteNode, onUnheard: (reason: string) => void): Backups {
  return {
    async make(file, nowMs, listen) {
      // What is in a copy is nobody else's business.
      process.umask(0o077);
      // Another node may be asked for a backup of the same name at the same time.
      const draft = draftOf(`${file}.from-node`);
      using writer = openWriter(path, node);
      try {
        // A node that is left alone may be all that there is.
        const unheard = failureOf(writer.catchUp);
        if (unheard !== null) onUnheard(unheard);
        const request = requestTo(node, "GET", "/db/backup?noleader", null, timeoutMs);
        const stop = listen();
        const { status, text } = await ask({ ...request, saveTo: draft }, stop);
        stop.throwIfAborted();
        if (status !== 200) throw new StoreError({ kind: "node silent", reason: text.trim() });
        migrateCopy(draft);
        const backup = await makeBackup(draft, file, nowMs, () => stop);
        const detail = { sha256: backup.sha256, leads: backup.leads };
        const record = () => recordAct(openCapturing(writer), { atMs: nowMs, act: "backup", account: null, detail });
        // The backup is whole by now. It counts, even where nobody takes the act.
        return { ...backup, unrecorded: unheard ?? failureOf(record) };
      } finally {
        removeDraft(draft);
      }
    },
    async restore() {
      throw new StoreError({ kind: "not on a cluster", act: "restore" });
    },
  };
}

/** Brings the fetched file to this version here: as a database it would be copied before. */
function migrateCopy(path: string): void {
  using client = new Database(path);
  const database = drizzle({ client });
  refuseUnusable(database, path);
  migrateSchema(database, path, "no copy");
}
