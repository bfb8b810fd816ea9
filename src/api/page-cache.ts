/** The page cache: popular pages as they were served last, until the database changes. */
import type { SentPage } from "../privacy/sent/outbox.ts";

/** A page as it is served. */
export interface Page extends SentPage {
  readonly body: Uint8Array<ArrayBuffer> | Blob;
}

/** At this size the cache is emptied: popular pages are soon cached again. A page of 25 leads has 15,000 bytes. */
const maxCacheBytes = 20 * 1024 * 1024;

/** The memory of an entry in addition to its body and its name. */
const overheadBytes = 500;

/** Creates the page cache. Its memory is bounded whatever clients ask for, and a write to the database empties it. */
export function createPageCache() {
  const pages = new Map<string, Page>();
  let bytes = 0;
  let knownVersion = Number.NaN;

  /** Returns the page with a name as this version of the database has it: the cached one, or what `read` returns. */
  return (name: string, databaseVersion: number, read: () => Page): Page => {
    if (databaseVersion !== knownVersion || bytes > maxCacheBytes) {
      pages.clear();
      bytes = 0;
      knownVersion = databaseVersion;
    }
    const cached = pages.get(name);
    if (cached !== undefined) return cached;
    const page = read();
    // Responses share a Blob, but each copies an array. Creating a Blob takes longer than one copy, so only cached pages have
    // one.
    const body = new Blob([page.body]);
    pages.set(name, { ...page, body });
    bytes += body.size + name.length + overheadBytes;
    return page;
  };
}
