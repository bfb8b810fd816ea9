/** Writes into a cluster for commands that cannot wait asynchronously yet: a thread does, and the call blocks until then. */
import { DatabaseUnavailable, WriteRefused, type WriteScope } from "../../src/db/connection.ts";
import { NodesDiffer } from "./cluster-database.ts";
import { type LocalFile, openLocalFile } from "./local-file.ts";
import type { RqliteNode, Statement } from "./node/node.ts";

export interface Writer extends Disposable {
  readonly file: LocalFile;
  /** Writes all statements or none. Throws WriteRefused or DatabaseUnavailable. */
  commit(statements: readonly Statement[]): void;
  /** Writes, and returns when every node shows the write or serves nobody. */
  commitEverywhere(statements: readonly Statement[]): void;
  catchUp(withinMs?: number): void;
  nodeNames(): string[];
}

/** What the thread is asked for. */
export type WriterCall =
  | { readonly kind: "open"; readonly path: string; readonly node: RqliteNode }
  | { readonly kind: "commit"; readonly statements: readonly Statement[]; readonly scope: WriteScope }
  | { readonly kind: "catch up"; readonly withinMs: number | null }
  | { readonly kind: "names" };

export type WriterReply =
  | { readonly names: readonly string[]; readonly unreachable: readonly string[] }
  | {
      readonly failure: "refused" | "unavailable" | "differs" | "other";
      readonly message: string;
      readonly advice: string;
    };

/** Words of 32 bits at the start of the shared memory: whether the reply is complete, and its length in bytes. */
export const replyHeader = { isComplete: 0, length: 1, bytes: 8 } as const;
export const maxReplyBytes = 1 << 16;

/** The reason why some work failed; null if it succeeded. Throws what waiting does not solve. */
export function failureOf(work: () => void): string | null {
  try {
    work();
    return null;
  } catch (cause) {
    if (cause instanceof NodesDiffer) throw cause;
    if (cause instanceof WriteRefused || cause instanceof DatabaseUnavailable) return cause.message;
    throw cause;
  }
}

/** Whether a write was applied. If SQLite refused it, the local file shows what others have written. */
export function wentIn(write: () => void): boolean {
  try {
    write();
    return true;
  } catch (cause) {
    if (!(cause instanceof WriteRefused)) throw cause;
    return false;
  }
}

export function openWriter(
  path: string,
  node: RqliteNode,
  onSilent: (names: readonly string[]) => void = () => {},
): Writer {
  const file = openLocalFile(path);
  const worker = new Worker(new URL("./blocking-writer-worker.ts", import.meta.url));

  function call(request: WriterCall): readonly string[] {
    const shared = new SharedArrayBuffer(replyHeader.bytes + maxReplyBytes);
    const words = new Int32Array(shared, 0, 2);
    // The thread has a connection of its own until it replies.
    file.release();
    worker.postMessage({ request, shared });
    Atomics.wait(words, replyHeader.isComplete, 0);
    const bytes = new Uint8Array(shared, replyHeader.bytes, words[replyHeader.length]).slice();
    const reply: WriterReply = JSON.parse(new TextDecoder().decode(bytes));
    if ("failure" in reply) throw failureIn(reply);
    if (reply.unreachable.length > 0) onSilent(reply.unreachable);
    return reply.names;
  }

  call({ kind: "open", path, node });
  return {
    file,
    commit: (statements) => void call({ kind: "commit", statements, scope: "local" }),
    commitEverywhere: (statements) => void call({ kind: "commit", statements, scope: "everywhere" }),
    catchUp: (withinMs) => void call({ kind: "catch up", withinMs: withinMs ?? null }),
    nodeNames: () => [...call({ kind: "names" })],
    [Symbol.dispose]() {
      worker.terminate();
      file[Symbol.dispose]();
    },
  };
}

function failureIn({ failure, message, advice }: Extract<WriterReply, { failure: string }>): Error {
  if (failure === "refused") return new WriteRefused(message);
  if (failure === "differs") return new NodesDiffer();
  return failure === "unavailable" ? new DatabaseUnavailable(message, advice) : new Error(message);
}
