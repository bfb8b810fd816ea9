/** Whether the node at CLUSTER is the one that the settings name, and the file at DATABASE_PATH its own. */
import { statSync } from "node:fs";
import { walOf } from "../../../src/store/database-files.ts";
import { StoreError } from "../../../src/store/errors.ts";
import type { RqliteNode } from "./node.ts";
import { stateOf } from "./state.ts";

const tries = 5;
const pauseMs = 500;

/** Throws a StoreError where it is not. Of a node that does not answer nothing is said. */
export async function checkBeside(node: RqliteNode, name: string, path: string): Promise<void> {
  const beside = (await stateOf(node))?.store?.node_id ?? name;
  if (beside !== name) throw new StoreError({ kind: "node of another name", name, beside });
  if (await hasOtherFile(node, path)) throw new StoreError({ kind: "file of another node", path, beside });
}

/**
 * All nodes have the same in their files, and a container knows a file by another path. But no two files were written last
 * in the same nanosecond. A time that is told while the file is written says nothing, so it is looked at several times.
 */
async function hasOtherFile(node: RqliteNode, path: string): Promise<boolean> {
  let isOther = false;
  for (let tried = 0; tried < tries; tried++) {
    const before = writtenNs(path);
    const told = (await stateOf(node))?.store?.sqlite3?.last_modified;
    const after = writtenNs(path);
    if (told === undefined || before === null || after === null) return false;
    const toldNs = nanosecondsOf(told);
    if (toldNs === before || toldNs === after) return false;
    if (before === after) isOther = true;
    await Bun.sleep(pauseMs);
  }
  return isOther;
}

/** When the file or its log was written last; null where it is not there. */
function writtenNs(path: string): bigint | null {
  const times = [path, walOf(path)].flatMap(
    (each) => statSync(each, { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? [],
  );
  return times.reduce<bigint | null>((newest, one) => (newest === null || one > newest ? one : newest), null);
}

/** Of a time as Go writes it, with up to nine decimals. */
function nanosecondsOf(moment: string): bigint {
  const decimals = /\.(\d+)/.exec(moment)?.[1] ?? "";
  const seconds = Math.floor(Date.parse(moment) / 1_000);
  return BigInt(seconds) * 1_000_000_000n + BigInt(decimals.padEnd(9, "0"));
}
