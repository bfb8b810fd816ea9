/** Bodies that are asked for again and again, answered from memory until somebody writes to the store. */

export interface ResponseCache<About> {
  /** The body that is kept for a question; null where none is, or where the store has changed since. */
  get(question: string, version: number): { readonly body: Blob; readonly about: About } | null;
  /** Keeps the body that answers a question, and what the ledger notes of it. */
  keep(question: string, body: Uint8Array, about: About): void;
}

/** A page of 25 leads is about 15 KB. */
const mostBytes = 20 * 1024 * 1024;
/** All filters together are shorter. Longer questions, which a request may have, would fill the memory. */
const longestQuestion = 500;

export function createResponseCache<About>(): ResponseCache<About> {
  const bodies = new Map<string, { readonly body: Blob; readonly about: About }>();
  let bytes = 0;
  let knownVersion = Number.NaN;

  function clear(): void {
    bodies.clear();
    bytes = 0;
  }

  return {
    get(question, version) {
      if (version !== knownVersion) clear();
      knownVersion = version;
      return bodies.get(question) ?? null;
    },
    keep(question, body, about) {
      if (question.length > longestQuestion) return;
      // Everything is dropped at once: what is asked for often is soon back.
      if (bytes + body.byteLength > mostBytes) clear();
      bodies.set(question, { body: new Blob([body]), about });
      bytes += body.byteLength;
    },
  };
}
