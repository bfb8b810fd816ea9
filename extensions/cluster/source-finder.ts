/**
 * The sources as the webhook endpoint beside a node looks them up. It answers under a lease, as a server does: a source that
 * was revoked is taken by nobody, also where the node has not heard of it yet.
 */
import { type Connection, DatabaseUnavailable } from "../../src/db/connection.ts";
import type { SourceFinder } from "../../src/db/sources.ts";
import { findSourceByDigest } from "../../src/db/sources.ts";
import { adminCommand } from "../../src/program-name.ts";
import { keepLease } from "./lease/keep-lease.ts";
import { createLease } from "./lease/lease.ts";
import type { LocalFile } from "./local-file.ts";
import type { RqliteNode } from "./node/node.ts";

interface LeasedFinder extends SourceFinder {
  /** Ends the lease. */
  close(): void;
}

/** Begins to ask the cluster, beside the server of this name. */
export function openSourceFinder(node: RqliteNode, name: string, file: LocalFile): LeasedFinder {
  const lease = createLease({ monotonicMs: () => performance.now(), wallMs: Date.now });
  let seen: Connection | null = null;

  /** The file of a node that starts goes back in time. */
  function current(): Connection {
    const now = file.current();
    if (now !== seen) lease.lose();
    seen = now;
    return now;
  }

  const holder = { name, process: null };
  const see = () => {
    current();
    lease.seen(file);
  };
  const asking = keepLease(node, holder, lease, { see, lastPosition: file.lastPosition });
  return {
    findByDigest(digest) {
      const database = current();
      if (!lease.holds()) {
        const advice = `To see the state of the cluster, run ${adminCommand} cluster status.`;
        throw new DatabaseUnavailable(`Sources cannot be looked up: ${asking.refusal()}.`, advice);
      }
      return findSourceByDigest(database, digest);
    },
    close: asking.end,
  };
}
