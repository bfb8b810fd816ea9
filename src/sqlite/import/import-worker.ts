/** The thread of an import: it has a connection of its own, and writes what it is handed until it is ended. */

import type { ImportOutcome, LeadImport } from "../../store/imports.ts";
import { openForImport } from "../open.ts";
import { beginImport } from "./import.ts";
import { type Begin, type Group, type Reply, unpack } from "./worker-client.ts";

/** Between transactions, so that others who want to write find the file free: a server tries every four milliseconds. */
const pauseMs = 5;

declare const self: Worker;

let target: LeadImport | null = null;

self.onmessage = ({ data }: MessageEvent<Begin | Group>) => {
  if ("path" in data) {
    target = beginImport(openForImport(data.path), data.account, data.options);
    return;
  }
  self.postMessage(answer(data));
};

function answer(group: Group): Reply {
  if (target === null) return { failure: "the import has not begun, or has failed" };
  try {
    const all = unpack(group);
    const outcomes: ImportOutcome[] = [];
    while (outcomes.length < all.length) {
      outcomes.push(...target.write(all.slice(outcomes.length), group.nowMs));
      Bun.sleepSync(pauseMs);
    }
    return { outcomes: JSON.stringify(outcomes) };
  } catch (cause) {
    // What lies ready behind it must not go in: nobody would count it.
    target = null;
    return { failure: cause instanceof Error ? cause.message : "unknown error" };
  }
}
