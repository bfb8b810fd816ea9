/** What was read is remembered until another process writes to the file: then all of it is forgotten at once. */
import type { CommitWatch } from "./commits.ts";

export interface Memory {
  /** Looks whether others have written since the last look, and forgets if they have. */
  refresh(): void;
  /** A place for answers, forgotten together with all others, or by itself when it is full. */
  place<Answer extends object | null>(most: number): Place<Answer>;
}

export interface Place<Answer extends object | null> {
  /** The answer that is remembered, or the one that is found now. That nothing is found, null, is not remembered. */
  recall(question: string, find: () => Answer): Answer;
}

export function createMemory(commits: CommitWatch): Memory {
  const places: { clear(): void }[] = [];
  return {
    refresh() {
      if (!commits.newer()) return;
      for (const place of places) place.clear();
    },
    place<Answer extends object | null>(most: number): Place<Answer> {
      const answers = new Map<string, Answer>();
      const asked = new Set<string>();
      places.push(answers, asked);
      return {
        recall(question, find) {
          const remembered = answers.get(question);
          if (remembered !== undefined) return remembered;
          const found = find();
          if (found === null) return found;
          // What is asked only once, such as a page deep down, is not worth the room.
          if (asked.has(question)) makeRoom(answers, most).set(question, found);
          else makeRoom(asked, 10 * most).add(question);
          return found;
        },
      };
    },
  };
}

/** Forgets all that is kept when it is full: what is asked again is soon back. */
function makeRoom<Kept extends { readonly size: number; clear(): void }>(kept: Kept, most: number): Kept {
  if (kept.size >= most) kept.clear();
  return kept;
}
