/** The thread that writes into a cluster while the command waits for it. */
import { DatabaseUnavailable, WriteRefused } from "../../src/db/connection.ts";
import { type ClusterDatabase, NodesDiffer, openClusterDatabase } from "./cluster-database.ts";
import { replyHeader, type WriterCall, type WriterReply } from "./writer.ts";

declare const self: Worker;

let database: ClusterDatabase | null = null;
let unreachable: readonly string[] = [];

self.onmessage = async ({ data }: MessageEvent<{ request: WriterCall; shared: SharedArrayBuffer }>) => {
  const reply = JSON.stringify(await replyTo(data.request));
  database?.file.release();
  const bytes = new TextEncoder().encode(reply);
  const words = new Int32Array(data.shared, 0, 2);
  new Uint8Array(data.shared, replyHeader.bytes).set(bytes);
  words[replyHeader.length] = bytes.length;
  Atomics.store(words, replyHeader.isComplete, 1);
  Atomics.notify(words, replyHeader.isComplete);
};

async function replyTo(request: WriterCall): Promise<WriterReply> {
  unreachable = [];
  try {
    const names = await answer(request);
    return { names, unreachable };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    if (cause instanceof WriteRefused) return { failure: "refused", message, advice: "" };
    if (cause instanceof NodesDiffer) return { failure: "differs", message, advice: "" };
    if (cause instanceof DatabaseUnavailable) return { failure: "unavailable", message, advice: cause.advice };
    return { failure: "other", message, advice: "" };
  }
}

async function answer(request: WriterCall): Promise<readonly string[]> {
  if (request.kind === "open") {
    database = openClusterDatabase(request.path, request.node, (names) => {
      unreachable = names;
    });
    return [];
  }
  if (database === null) throw new Error("the database is not open");
  if (request.kind === "commit") await database.commit(request.statements, request.scope);
  else if (request.kind === "names") return await database.nodeNames();
  else if (request.withinMs === null) await database.catchUp();
  else await database.catchUpWithin(request.withinMs);
  return [];
}
