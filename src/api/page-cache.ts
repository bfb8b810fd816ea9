/** The pages that were just served, until somebody writes to the database. */
import type { DisclosedPage } from "../privacy/disclosures/pending-pages.ts";

export interface Page {
  readonly body: Uint8Array;
  /** The entry for the ledger; null for a page without leads. */
  readonly disclosed: DisclosedPage | null;
}

/** At most this many bytes of pages are kept in memory. A page of 25 leads has about 15,000. */
const maxBytes = 20 * 1024 * 1024;

/** The size of an entry in addition to its body and its question: most of an empty page. */
const overheadBytes = 250;

/** A client chooses what it asks for, and could fill the memory with long questions. All filters together are shorter. */
const maxQuestionLength = 500;

/** Makes the cache of pages, by the questions that they answer, until somebody writes to the database. */
export function createPageCache() {
  const pages = new Map<string, Page>();
  let bytes = 0;
  let knownVersion = Number.NaN;

  function clear(): void {
    pages.clear();
    bytes = 0;
  }

  return {
    /** Returns the page that answers a question; null if none is kept, or the database has changed since. */
    get(question: string, databaseVersion: number): Page | null {
      if (databaseVersion !== knownVersion) clear();
      knownVersion = databaseVersion;
      return pages.get(question) ?? null;
    },
    /** Keeps a page that was just read. Call it after `get`, without waiting in between. */
    keep(question: string, page: Page): void {
      if (question.length > maxQuestionLength || pages.has(question)) return;
      const added = page.body.byteLength + question.length + overheadBytes;
      // Everything is dropped at once: what is asked for often is soon back.
      if (bytes + added > maxBytes) clear();
      pages.set(question, page);
      bytes += added;
    },
  };
}
