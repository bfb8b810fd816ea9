/** Bodies that are asked for again and again, answered out of memory until somebody writes to the store. */

export interface Remembered {
  /** The body that answers a question in this state of the store: the one that is remembered, or the one made now. */
  recall(version: number, question: string, make: () => Uint8Array): Blob | Uint8Array;
}

/** A page of 25 leads is about 15 KB. */
const mostBytes = 20 * 1024 * 1024;
/** Questions that were asked once. */
const mostAsked = 10_000;
/** Every filter at once is shorter; of longer ones, which a head allows, the memory would be full. */
const longestQuestion = 500;

export function createRemembered(): Remembered {
  const bodies = new Map<string, Blob>();
  const asked = new Set<string>();
  let bytes = 0;
  let known = Number.NaN;

  function forget(): void {
    bodies.clear();
    bytes = 0;
  }

  function keep(question: string, text: Uint8Array): void {
    const body = new Blob([text]);
    // Forgotten all together: what is asked again is soon back.
    if (bytes + body.size > mostBytes) forget();
    bodies.set(question, body);
    bytes += body.size;
  }

  return {
    recall(version, question, make) {
      if (version !== known) forget();
      known = version;
      if (question.length > longestQuestion) return make();
      const remembered = bodies.get(question);
      if (remembered !== undefined) return remembered;
      const text = make();
      // What is asked only once, such as a page deep down, is not worth the room.
      if (asked.has(question)) keep(question, text);
      else {
        if (asked.size >= mostAsked) asked.clear();
        asked.add(question);
      }
      return text;
    },
  };
}
