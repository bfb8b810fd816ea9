/**
 * What is left of erased leads in the bytes of the file. SQLite overwrites what is deleted, and the log is cut. Still, a
 * page that was split may keep a stale copy. So the bytes are looked for; where they are found, the file is written anew.
 */

import type { Connection } from "../../db/connection.ts";
import { type Descriptors, sizeOf } from "../../db/file.ts";
import { removeStaleDrafts } from "../../db/leftovers.ts";
import { accounts } from "../../db/schema.ts";
import { vacuum } from "../../db/vacuum.ts";
import { truncateWal } from "../../db/wal.ts";
import { filesOf } from "../../store/database-files.ts";
import type { OnLook, Traces } from "../../store/privacy.ts";
import { dropFilters } from "../disclosures/disclosures.ts";
import { collectingGarbage } from "../garbage-collection.ts";
import { leadsOf } from "./all-leads.ts";
import { createSearch, type Search } from "./byte-search.ts";
import { copiesWith } from "./copies-beside.ts";
import { searchFile } from "./file-search.ts";
import { standsAlone, type Wanted } from "./forms.ts";
import { givenNamesWith } from "./given-names.ts";

/** With more erased leads than this the file is written anew in any case, and they are not looked for one by one. */
export const mostLookedFor = 10_000;

/** Readers end within moments; a backup or another program may take longer. */
const patienceMs = 15_000;

/**
 * Looks for values in the file. Where they stand at more places than in the leads that stay, it writes the file anew. The
 * caller has deleted the leads. Where they were too many to be looked for one by one, the file must be rewritten in any case.
 */
export function removeTraces(
  database: Connection,
  wanted: Iterable<Wanted>,
  descriptors: Descriptors,
  mustRewrite: boolean,
  onLook: OnLook,
): Traces {
  const path = database.$client.filename;
  onLook(filesOf(path).reduce((sum, part) => sum + sizeOf(part), 0));
  const { search, kinds } = searchFor(wanted);
  const holds = (text: string) => search.reach > 0 && holdsAny(text, search, kinds);
  dropFilters(database, holds);
  // A restore that was killed has left a copy of everything.
  removeStaleDrafts(path);
  const cut = truncateLog(database) && (!mustRewrite || writeAnew(database));
  // While somebody reads the old state, the log cannot be cut, and a file that is written anew only makes it longer.
  if (mustRewrite && !cut) return { gone: false, bytes: 0, sharedBy: [], copies: [], givenNames: [] };
  const elsewhere = { copies: copiesWith(path, search), givenNames: givenNamesWith(database, holds) };
  const first = countIn(path, search, kinds.length, descriptors);
  if (first.found.every((places) => places === 0))
    return { gone: true, bytes: first.bytes, sharedBy: [], ...elsewhere };
  const living = countInLeads(database, search, kinds);
  const isLeft = first.found.some((places, value) => places > (living.places[value] ?? 0));
  const rest = { sharedBy: living.accounts, ...elsewhere };
  if (!isLeft) return { gone: true, bytes: first.bytes, ...rest };
  // What is in a file that was just written anew belongs to what stays.
  const gone = cut && (mustRewrite || writeAnew(database));
  return { gone, bytes: first.bytes, ...rest };
}

/** Writes the file anew; false where somebody has begun to read the old state meanwhile. */
function writeAnew(database: Connection): boolean {
  vacuum(database);
  return truncateLog(database);
}

const valuesUntilCollected = 10_000;

/** The search, and the kind of each value. The forms of the values are not kept. */
function searchFor(wanted: Iterable<Wanted>) {
  const kinds: Wanted["kind"][] = [];
  function* forms() {
    for (const { kind, forms } of wanted) {
      kinds.push(kind);
      yield forms;
    }
  }
  return { search: createSearch(collectingGarbage(forms(), valuesUntilCollected)), kinds };
}

/** Whether a text holds an address, a phone or an id that is looked for. */
function holdsAny(text: string, search: Search, kinds: readonly Wanted["kind"][]): boolean {
  const bytes = Buffer.from(text);
  let isFound = false;
  search.look(bytes, 0, bytes.length, (value) => {
    // The name of a person alone may be that of a town or a product as well.
    if (kinds[value] !== "exact") isFound = true;
  });
  return isFound;
}

/** At how many places each value stands in the leads that stay, and which accounts have one. */
function countInLeads(database: Connection, search: Search, kinds: readonly Wanted["kind"][]) {
  const places = new Uint32Array(kinds.length);
  const holders = new Set<string>();
  const all = database.select({ number: accounts.number, name: accounts.name }).from(accounts).all();
  for (const { number, name } of all) {
    for (const [, doc] of leadsOf(database, number, () => undefined)) {
      search.look(doc, 0, doc.length, (value, start, end) => {
        places[value] = (places[value] ?? 0) + 1;
        const kind = kinds[value];
        if (kind === undefined || kind === "exact" || standsAlone(kind, doc, start, end)) holders.add(name);
      });
    }
  }
  return { places, accounts: [...holders] };
}

/** Copies the log into the file and cuts it to nothing; false when somebody kept reading the old state for too long. */
function truncateLog(database: Connection): boolean {
  const endMs = performance.now() + patienceMs;
  while (!truncateWal(database)) {
    if (performance.now() > endMs) return false;
    Bun.sleepSync(50);
  }
  return true;
}

/** At how many places each value stands in the parts of the database. */
function countIn(path: string, search: Search, values: number, descriptors: Descriptors) {
  const found = new Uint32Array(values);
  let bytes = 0;
  if (values === 0) return { found, bytes };
  for (const part of filesOf(path)) {
    const file = descriptors(part);
    if (file === null) continue;
    bytes += searchFile(file, search, (value) => {
      found[value] = (found[value] ?? 0) + 1;
      return true;
    });
  }
  return { found, bytes };
}
