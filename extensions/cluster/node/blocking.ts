/**
 * Asks a node as SQLite is asked: the call returns with the answer. Commands are written so, because they have nothing
 * else to do meanwhile. A server must never ask in this way.
 */
import type { NodeAnswer, NodeRequest } from "./node.ts";

/** What the thread is handed: a request, and the memory in which it leaves the answer. */
export interface AskingWork {
  readonly request: NodeRequest;
  readonly shared: SharedArrayBuffer;
}

/** Words of 32 bits at the beginning of the memory: whether the answer is there, and its length in bytes. */
export const header = { isThere: 0, length: 1, bytes: 8 } as const;
/** Longer answers are cut: nothing that a command asks has more. */
export const mostBytes = 4 << 20;

export interface BlockingNode {
  ask(request: NodeRequest): NodeAnswer;
  close(): void;
}

/** Starts the thread that asks. */
export function openBlockingNode(): BlockingNode {
  const worker = new Worker(new URL("./asking-worker.ts", import.meta.url));
  return {
    ask(request) {
      const shared = new SharedArrayBuffer(header.bytes + mostBytes);
      const words = new Int32Array(shared, 0, 2);
      worker.postMessage({ request, shared } satisfies AskingWork);
      Atomics.wait(words, header.isThere, 0, request.timeoutMs + 5_000);
      if (words[header.isThere] !== 1) return { status: 0, text: "the node did not answer in time" };
      const bytes = new Uint8Array(shared, header.bytes, words[header.length]).slice();
      const answer: NodeAnswer = JSON.parse(new TextDecoder().decode(bytes));
      return answer;
    },
    close: () => worker.terminate(),
  };
}
