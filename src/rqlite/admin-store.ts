/** The store of the commands on a cluster: what they read lies in the file of the node beside, what they write goes to rqlite. */
import { openAudit } from "../sqlite/audit.ts";
import { exportDocuments, openLeads } from "../sqlite/leads.ts";
import { openRecipientRepository } from "../sqlite/privacy/passed.ts";
import { readStats } from "../sqlite/stats.ts";
import type { AdminStore } from "../store/admin.ts";
import { StoreError } from "../store/errors.ts";
import { openBlockingNode } from "./blocking.ts";
import { auditStatement, openClusterAccounts, openClusterKeys, openClusterPixels } from "./books.ts";
import { openLocalFile } from "./local-file.ts";
import type { RqliteNode } from "./node.ts";
import { openClusterSources } from "./sources.ts";
import { openWriter } from "./writer.ts";

export interface ClusterAdminSetup {
  /** The SQLite file of the node beside. */
  readonly path: string;
  readonly node: RqliteNode;
  /** Hears the names of nodes that could not be asked, and that answer nobody until they have caught up. */
  readonly onSilent: (names: readonly string[]) => void;
}

/** Opens it. */
export function openClusterAdminStore({ path, node, onSilent }: ClusterAdminSetup): AdminStore {
  const file = openLocalFile(path);
  const blocking = openBlockingNode();
  const writer = openWriter({ node, blocking, file, onSilent });
  return {
    accounts: openClusterAccounts(file, writer),
    pixels: openClusterPixels(file, writer),
    keys: openClusterKeys(file, writer),
    leads: {
      page: (...asked) => openLeads(file.current()).page(...asked),
      beginImport: notYet,
      export: (account) => exportDocuments(file.current(), account),
    },
    imports: { begin: notYet, list: notYet, find: notYet, undo: notYet },
    sources: openClusterSources(file, writer),
    stats: (account, sinceMs) => readStats(file.current(), account, sinceMs),
    people: { find: notYet, survey: notYet, erase: notYet },
    recipients: {
      positions: (...asked) => openRecipientRepository(file.current()).positions(...asked),
      passed: (...asked) => openRecipientRepository(file.current()).passed(...asked),
    },
    retention: { wouldEraseAll: notYet, set: notYet },
    audit: {
      record: (entry) => writer.commit([auditStatement(entry)]),
      list: (...asked) => openAudit(file.current()).list(...asked),
    },
    close() {
      blocking.close();
      file.close();
    },
  };
}

function notYet(): never {
  throw new StoreError({ kind: "not on a cluster", act: "restore" });
}
