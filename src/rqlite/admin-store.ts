/** The store of the commands on a cluster: what they read lies in the file of the node beside, what they write goes to rqlite. */
import { openAccounts } from "../sqlite/accounts.ts";
import { openAudit } from "../sqlite/audit.ts";
import { exportDocuments } from "../sqlite/export.ts";
import { findBatch, listBatches } from "../sqlite/import/batches.ts";
import { openKeys } from "../sqlite/keys.ts";
import { openPixels } from "../sqlite/pixels.ts";
import { openRecipientRepository } from "../sqlite/privacy/ledger/passed.ts";
import { openLeads } from "../sqlite/reading/leads.ts";
import { openSources } from "../sqlite/sources.ts";
import { readStats } from "../sqlite/stats.ts";
import type { AdminStore } from "../store/admin.ts";
import { openCapturing } from "./capturing.ts";
import { beginClusterImport } from "./import/import.ts";
import { undoClusterBatch } from "./import/undo.ts";
import { beginClusterLeads } from "./import/write-planned.ts";
import type { RqliteNode } from "./node/node.ts";
import { openClusterPeople, openClusterRetention } from "./privacy/people.ts";
import { openSourceFinder } from "./source-finder.ts";
import { failureOf, openWriter } from "./writer.ts";

interface ClusterAdminSetup {
  /** The SQLite file of the node beside. */
  readonly path: string;
  /** The name of the server beside that node. */
  readonly name: string;
  readonly node: RqliteNode;
  /** Hears the names of nodes that could not be asked, and that answer nobody until they have caught up. */
  readonly onSilent: (names: readonly string[]) => void;
  /** Called with the reason where no majority is heard, so that what is read may be old. */
  readonly onUnheard: (reason: string) => void;
}

/** So long a command looks for a majority before it reads without one. */
const patienceMs = 2_000;

/** Opens it. */
export function openClusterAdminStore({ path, name, node, onSilent, onUnheard }: ClusterAdminSetup): AdminStore {
  const writer = openWriter(path, node, onSilent);
  // What a command beside another node has just written is there to be read.
  try {
    const unheard = failureOf(() => writer.catchUp(patienceMs));
    if (unheard !== null) onUnheard(unheard);
  } catch (cause) {
    writer[Symbol.dispose]();
    throw cause;
  }
  const database = openCapturing(writer);
  // What is written on this one holds on every node when it is done.
  const everywhere = openCapturing({ ...writer, commit: writer.commitEverywhere });
  const accounts = openAccounts(database);
  const pixels = openPixels(database);
  const { expire, revoke } = openKeys(everywhere);
  let finder: ReturnType<typeof openSourceFinder> | null = null;
  const importing = { database, writer, pixels };
  return {
    accounts: {
      ...accounts,
      setActive: (account, active) => (active ? accounts : openAccounts(everywhere)).setActive(account, active),
    },
    pixels,
    keys: { ...openKeys(database), expire, revoke },
    leads: {
      ...openLeads(database),
      beginImport: (account, options) => beginClusterLeads(importing, account, options),
      export: (account) => exportDocuments(database, account),
    },
    imports: {
      begin: (...asked) => beginClusterImport(importing, ...asked),
      list: ({ number }) => listBatches(database, number),
      find: ({ number: account }, number) => findBatch(database, account, number),
      undo: (...asked) => undoClusterBatch({ database, writer }, ...asked),
    },
    sources: {
      ...openSources(database),
      revoke: openSources(everywhere).revoke,
      finder: () => (finder ??= openSourceFinder(node, name, writer.file)),
    },
    stats: (account, sinceMs) => readStats(database, account, sinceMs),
    people: openClusterPeople(database, writer),
    recipients: openRecipientRepository(database),
    retention: openClusterRetention(database, writer),
    audit: openAudit(database),
    close() {
      finder?.close();
      writer[Symbol.dispose]();
    },
  };
}
