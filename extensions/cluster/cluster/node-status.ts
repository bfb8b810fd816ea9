/** The port of the commands that look after a cluster: its first node, how it is, the logs of its nodes, and leaving it. */

export interface Cluster {
  /** Makes an existing file the first node. Throws a StoreError where the node is not alone and empty. */
  begin(file: string): Promise<{ readonly leads: number }>;
  /** Brings the schema up to this version; gives how many migrations were made. */
  migrate(): Promise<number>;
  status(): Promise<ClusterStatus>;
  /** Throws a StoreError where the node at CLUSTER has another name than the server, or another file. */
  checkBeside(name: string): Promise<void>;
  /** Takes what was erased out of the log of the node beside, which is stopped for a moment. */
  scrub(around: Restarting): Promise<Scrubbed>;
  /** Takes a node out of the cluster; it answers nobody any more when this returns. */
  leave(name: string): Promise<void>;
}

/** How the node beside is stopped and started, which its own supervisor does. */
export interface Restarting {
  stop(): Promise<void>;
  start(): Promise<void>;
}

export interface Scrubbed {
  readonly node: string;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** For how long the node was away. */
  readonly awayMs: number;
}

export interface ClusterStatus {
  readonly nodes: readonly NodeStatus[];
  /** Whether more than half of the nodes with a vote can be reached. */
  readonly hasMajority: boolean;
  /** Ids of keys that several nodes have counted in one minute, so that each had more than one limit. */
  readonly spreadKeys: readonly string[];
}

export interface NodeStatus {
  readonly name: string;
  readonly role: "leader" | "follower" | "reader";
  /** Where its rqlite answers. */
  readonly url: string;
  readonly isReachable: boolean;
  /** Entries of the log that it has not applied yet; null where it did not say. */
  readonly lag: number | null;
  /** The version of rqlite; null where it did not say. */
  readonly version: string | null;
  /** The bytes of its log, with the room that is free in it. */
  readonly logBytes: number | null;
  /** Flags that it ought to have been started with, as far as it tells. */
  readonly wrongFlags: readonly string[];
  /** Whether it lacks some of what was written, as after a full disk. */
  readonly lacksWrites: boolean;
  /** Whether its log has been rid of all that was erased. */
  readonly isScrubbed: boolean;
  /** The server beside it; null where none has ever told of itself. */
  readonly server: { readonly url: string; readonly version: string; readonly serves: boolean } | null;
}
