/** A file of 1,000 accounts with ten keys each, whose leads lie between one another in time and in the file. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createKey, digestOf, prefixOf } from "../../src/contract/key.ts";
import type { Lead } from "../../src/contract/lead.ts";
import { prepareLead } from "../../src/import/map/lead.ts";
import type { NewLead } from "../../src/import/new-lead.ts";
import { type AdminStore, openAdminStore } from "../../test/support/admin-store.ts";
import { dataVersion, folderFor, removeDatabase } from "./data.ts";
import { leadAt } from "./leads.ts";
import { note } from "./note.ts";

const accountCount = 1000;
const keysPerAccount = 10;
/** Each account gets its leads in so many portions, in turn with all others. */
const portions = 5;

export interface AccountsData {
  readonly path: string;
  /** A file with a key a line. */
  readonly keysPath: string;
  readonly key: string;
}

export async function prepareAccounts(leads: number): Promise<AccountsData> {
  const folder = folderFor(`${leads}-accounts`);
  const path = join(folder, "leadfile.db");
  const keysPath = join(folder, `keys-${dataVersion}.txt`);
  if (!existsSync(keysPath)) {
    note("Making 1,000 accounts, 10,000 keys and their leads.");
    removeDatabase(path);
    const store = openAdminStore(path);
    const keys = fill(store, leads);
    store.close();
    writeFileSync(keysPath, `${keys.join("\n")}\n`);
  }
  const [key = ""] = readFileSync(keysPath, "utf8").split("\n", 1);
  return { path, keysPath, key };
}

function fill(store: AdminStore, leads: number): string[] {
  const nowMs = Date.now();
  const accounts = Array.from({ length: accountCount }, (_, place) => {
    const account = store.accounts.create(`account ${place}`, nowMs);
    if (account === null) throw new Error("the file was not empty");
    return account.number;
  });
  const imports = accounts.map((account) =>
    store.leads.beginImport(account, { onDuplicate: "skip", createPixels: true }),
  );
  const perPortion = Math.floor(leads / portions / accountCount);
  for (let portion = 0; portion < portions; portion++) {
    for (const [place, target] of imports.entries()) {
      const first = portion * perPortion * accountCount + place;
      const all = Array.from({ length: perPortion }, (_, step) => newLead(leadAt(first + step * accountCount, leads)));
      for (let done = 0; done < all.length; ) done += target.write(all.slice(done), nowMs).length;
    }
  }
  // One key of every account, then the second of every account: two that follow one another never share a page.
  return Array.from({ length: keysPerAccount }, () => accounts).flatMap((round) =>
    round.map((account) => {
      const key = createKey();
      store.keys.create(account, { digest: digestOf(key), prefix: prefixOf(key), label: null }, nowMs);
      return key;
    }),
  );
}

function newLead({ id, identified_at: at, pixel_id: pixelId, ...details }: Lead): NewLead {
  return prepareLead(id, pixelId, details, Date.parse(at));
}
