/** The database of a test, which is set up without waiting. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { sql } from "drizzle-orm";
import { type Account, createAccount, findAccount, listAccounts, setSubscription } from "../../src/db/accounts.ts";
import { readLeadGroups } from "../../src/db/all-leads.ts";
import { createKey, expireKey, findKey, findKeyByDigest, listKeysOf, revokeKey } from "../../src/db/keys.ts";
import { openLeads } from "../../src/db/leads.ts";
import { openFileDatabase } from "../../src/db/open.ts";
import { createPixel, listPixels, openPixelReader, setPixelStatus } from "../../src/db/pixels.ts";
import { createSource, findSourceByDigest, revokeSource } from "../../src/db/sources.ts";
import type { ImportOptions, ImportOutcome, NewLead } from "../../src/import/new-lead.ts";
import { importerOn } from "../../src/import/write/import.ts";
import { openDestination, writeLeads } from "../../src/import/write/lead-writer.ts";

/** Ignores a failure after the write: a function may read its result when the test has closed the database. */
const written = (work: Promise<unknown>): void => void work.catch(() => undefined);

/** Writes leads in one transaction, and returns the outcome of each. */
export interface LeadImport {
  write(leads: readonly NewLead[], nowMs: number): ImportOutcome[];
}

export type AdminStore = ReturnType<typeof openAdminStore>;

let template: Uint8Array | null = null;

/** The bytes of an empty database of this version. To write them takes a tenth of the time that the migrations take. */
function theTemplate(): Uint8Array {
  if (template !== null) return template;
  const folder = mkdtempSync(join(tmpdir(), "leadfile-template-"));
  const database = openFileDatabase(join(folder, "leadfile.db"));
  // Each copy makes its own when it is opened.
  database.read.run(sql`DELETE FROM instances`);
  template = database.read.$client.serialize();
  database.close();
  rmSync(folder, { recursive: true });
  return template;
}

/** Opens the file at a path, which is created if need be. On a file, a write is done when its function returns; only its result has to be waited for. */
export function openAdminStore(path: string) {
  if (!existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, theTemplate(), { mode: 0o600 });
  }
  const database = openFileDatabase(path);
  const { read } = database;
  const accountOf = (number: number): Account => {
    const account = listAccounts(read).find((one) => one.number === number);
    if (account === undefined) throw new Error(`there is no account ${number}`);
    return account;
  };
  return {
    database,
    close: database.close,
    accounts: {
      create(name: string, nowMs: number): Account | null {
        if (findAccount(read, name) !== null) return null;
        written(createAccount(database, name, nowMs));
        return findAccount(read, name);
      },
      list: () => listAccounts(read),
      find: (idOrName: string) => findAccount(read, idOrName),
      setActive: (number: number, active: boolean, nowMs: number) =>
        written(setSubscription(database, accountOf(number), active, nowMs)),
    },
    pixels: {
      ...openPixelReader(read),
      list: (account: number) => listPixels(read, account),
      create(account: number, pixel: Parameters<typeof createPixel>[2], nowMs: number): boolean {
        if (openPixelReader(read).has(account, pixel.id)) return false;
        written(createPixel(database, account, pixel, nowMs));
        return true;
      },
      setStatus(account: number, pixel: Parameters<typeof createPixel>[2]): boolean {
        written(setPixelStatus(database, account, pixel));
        return openPixelReader(read).has(account, pixel.id);
      },
    },
    keys: {
      create(account: number, key: Parameters<typeof createKey>[2], nowMs: number) {
        written(createKey(database, accountOf(account), key, nowMs));
        const made = findKeyByDigest(read, key.digest);
        if (made === null) throw new Error("the key was not stored");
        return made;
      },
      list: (account: number) => listKeysOf(read, account),
      find: (id: string) => findKey(read, id),
      findByDigest: (digest: Buffer) => findKeyByDigest(read, digest),
      expire(id: string, expiresMs: number, nowMs: number) {
        written(expireKey(database, id, expiresMs, nowMs));
        return findKey(read, id);
      },
      revoke(id: string, nowMs: number) {
        written(revokeKey(database, id, nowMs));
        return findKey(read, id);
      },
    },
    leads: {
      beginImport: (account: number, options: ImportOptions): LeadImport => ({
        write(leads, nowMs) {
          const write = () => writeLeads(openDestination(read, account, nowMs), leads, { ...options, nowMs });
          // A transaction that begins with reading fails once another program writes; one that begins so waits.
          return read.transaction(write, { behavior: "immediate" });
        },
      }),
      ...openLeads(read),
      export: (account: number) => readLeadGroups(read, account).map((some) => some.map(({ doc }) => doc)),
    },
    imports: { begin: importerOn(read).begin },
    sources: {
      create(account: number, source: Parameters<typeof createSource>[2], nowMs: number) {
        written(createSource(database, accountOf(account), source, nowMs));
        const made = findSourceByDigest(read, source.digest);
        if (made === null) throw new Error("the source was not stored");
        return made;
      },
      revoke: (id: string, nowMs: number) => written(revokeSource(database, id, nowMs)),
    },
  };
}
