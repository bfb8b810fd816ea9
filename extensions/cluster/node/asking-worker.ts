/** The thread that asks a node while the command waits for it. */
import { type AskingWork, header, mostBytes } from "./blocking.ts";
import { ask } from "./node.ts";

declare const self: Worker;

self.onmessage = async ({ data }: MessageEvent<AskingWork>) => {
  const answer = await ask(data.request);
  const bytes = new TextEncoder().encode(JSON.stringify(answer));
  const fits = bytes.length <= mostBytes;
  const left = fits ? bytes : new TextEncoder().encode(JSON.stringify({ status: 0, text: "the answer is too long" }));
  const words = new Int32Array(data.shared, 0, 2);
  new Uint8Array(data.shared, header.bytes).set(left);
  words[header.length] = left.length;
  Atomics.store(words, header.isThere, 1);
  Atomics.notify(words, header.isThere);
};
