/** Checks that the node at CLUSTER is the one that the settings name, and that the file at DATABASE_PATH belongs to it. */
import { statSync } from "node:fs";
import { walOf } from "../../../src/db/database-files.ts";
import { UserError } from "../../../src/user-error.ts";
import type { RqliteNode } from "./node.ts";
import { stateOf } from "./state.ts";

const tries = 5;
const pauseMs = 500;

/** Throws a UserError if it is another node, or the file of another one. Accepts a node that does not answer. */
export async function checkLocalNode(node: RqliteNode, name: string, path: string): Promise<void> {
  const actual = (await stateOf(node))?.store?.node_id ?? name;
  if (actual !== name) {
    throw new UserError(
      `NODE_NAME is ${name}, but the node at CLUSTER is ${actual}.`,
      "Set NODE_NAME to its -node-id, or CLUSTER to the node whose file is at DATABASE_PATH.",
    );
  }
  if (await hasOtherFile(node, path)) {
    throw new UserError(
      `${path} is not the file of ${actual}, the node at CLUSTER.`,
      "Set DATABASE_PATH to db.sqlite in the folder of that node, or CLUSTER and NODE_NAME to the node of this file.",
    );
  }
}

/**
 * Compares when the file was written last. All nodes have the same data, and a container knows a file under another path, but
 * no two files were written last in the same nanosecond. A time that is reported while the file is being written means
 * nothing, so the comparison is repeated.
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

/** The time of the last write to the file or its log; null if the file is missing. */
function writtenNs(path: string): bigint | null {
  const times = [path, walOf(path)].flatMap(
    (each) => statSync(each, { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? [],
  );
  return times.reduce<bigint | null>((newest, one) => (newest === null || one > newest ? one : newest), null);
}

/** Parses a time as Go writes it, with up to nine decimals. */
function nanosecondsOf(moment: string): bigint {
  const decimals = /\.(\d+)/.exec(moment)?.[1] ?? "";
  const seconds = Math.floor(Date.parse(moment) / 1_000);
  return BigInt(seconds) * 1_000_000_000n + BigInt(decimals.padEnd(9, "0"));
}
