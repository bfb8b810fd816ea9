/** Which store there is: the one file of an appliance, or the file of an rqlite node, which only rqlite may write. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ClusterConfig, Config } from "./config.ts";
import { UserError } from "./operator/user-error.ts";
import type { RqliteNode } from "./rqlite/node.ts";
import { openClusterStore } from "./rqlite/served-store.ts";
import { openServedStore } from "./sqlite/served-store.ts";
import type { ServedStore } from "./store/serving.ts";

/** Opens the store of the server. Throws a UserError or a StoreError that says why it cannot. */
export function openStoreOf({ databasePath: path, cluster }: Pick<Config, "databasePath" | "cluster">): ServedStore {
  checkOwner(path, cluster);
  if (cluster !== null) return openClusterStore({ path, node: nodeBeside(cluster), name: cluster.name });
  return openServedStore(path);
}

/** The node beside, as it is asked. */
export function nodeBeside({ url, credentials }: ClusterConfig): RqliteNode {
  return { url, authorization: credentials === null ? null : `Basic ${Buffer.from(credentials).toString("base64")}` };
}

/** Throws a UserError where the file is a node's and CLUSTER is not set, or the other way round. Nothing is touched. */
export function checkOwner(path: string, cluster: ClusterConfig | null): void {
  const isOfNode = existsSync(join(dirname(path), "raft.db"));
  if (isOfNode && cluster === null) {
    throw new UserError(
      `${path} is the file of an rqlite node, which alone may write it.`,
      "Set CLUSTER and NODE to work with the cluster, or DATABASE_PATH to another file.",
    );
  }
  if (!isOfNode && cluster !== null) {
    throw new UserError(
      `${path} is not the file of an rqlite node.`,
      "Set DATABASE_PATH to db.sqlite in the folder of the node at CLUSTER, once it runs.",
    );
  }
}
