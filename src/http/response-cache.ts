/** Bodies that are asked for again and again, answered out of memory until somebody writes to the store. */

export interface ResponseCache<About> {
  /** What is kept for a question; null where nothing is, or the store has another version than it was made of. */
  get(question: string, version: number): { readonly body: Blob; readonly about: About } | null;
  /** Offers the body that answers a question, and what is to be known of it: kept once the question is asked a second time. */
  offer(question: string, body: Uint8Array, about: About): void;
}

/** A page of 25 leads is about 15 KB. */
const mostBytes = 20 * 1024 * 1024;
/** Questions that were asked once. */
const mostAsked = 10_000;
/** Every filter at once is shorter; longer ones, which a head allows, would fill the memory. */
const longestQuestion = 500;

export function createResponseCache<About>(): ResponseCache<About> {
  const bodies = new Map<string, { readonly body: Blob; readonly about: About }>();
  const asked = new Set<string>();
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
    offer(question, body, about) {
      if (question.length > longestQuestion) return;
      // What is asked only once, such as a page deep down, is not worth the room.
      if (!asked.has(question)) {
        if (asked.size >= mostAsked) asked.clear();
        asked.add(question);
        return;
      }
      // All at once: what is asked again is soon back.
      if (bytes + body.byteLength > mostBytes) clear();
      bodies.set(question, { body: new Blob([body]), about });
      bytes += body.byteLength;
    },
  };
}
