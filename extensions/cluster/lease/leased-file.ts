/** The file of the local node, read under a lease: each request checks the file and the lease once before it reads. */
import { QueryFailed } from "../../../src/db/serving.ts";
import type { RqliteNode } from "../node.ts";
import type { NodeFile, Opening } from "../node-file.ts";
import { type Holder, keepLease } from "./keep-lease.ts";
import { createLease, type Lease } from "./lease.ts";

/** Starts to keep a lease, and returns the file under it. */
export function openLeasedFile(file: NodeFile, node: RqliteNode, holder: Holder) {
  const lease = createLease({ monotonicMs: () => performance.now(), wallMs: Date.now });
  const { see, ...reads } = readUnderLease(file, lease, () => asking.refusal());
  const asking = keepLease(node, holder, lease, { see, lastPosition: () => file.current().lastPosition() });
  return { ...reads, lease, answers: asking.answers, end: asking.end };
}

/** Returns the reads of a file under a lease. `refusal` tells why there is no lease. */
export function readUnderLease(file: NodeFile, lease: Lease, refusal: () => string) {
  let seenVersion = Number.NaN;
  let seenOpening = 0;

  /** Makes a read that throws QueryFailed when it fails. The lease is lost then, and the file is opened again. */
  const reading =
    <Asked extends unknown[], Answer>(work: (opening: Opening, ...asked: Asked) => Answer) =>
    (...asked: Asked): Answer => {
      try {
        return work(file.current(), ...asked);
      } catch (cause) {
        lease.lose();
        file.fail();
        throw cause instanceof QueryFailed ? cause : new QueryFailed("the file of the node failed", { cause });
      }
    };

  // No opening has so many commits.
  const versionOf = (opening: Opening) => opening.number * 2 ** 32 + opening.serving().reader.version();

  /** Checks the file, tells the lease what it shows, and returns its version. */
  const see = reading((opening) => {
    const version = versionOf(opening);
    if (version === seenVersion && !lease.isWaiting()) return version;
    if (opening.number !== seenOpening) lease.lose();
    lease.seen(opening);
    seenOpening = opening.number;
    seenVersion = version;
    // A commit in between may have brought the lease. What was cached before that commit must not be served any more.
    return versionOf(opening);
  });

  return {
    reading,
    see,
    /** Returns the version of the file. Throws QueryFailed without a lease. */
    version(): number {
      const version = see();
      if (!lease.holds()) throw new QueryFailed(refusal());
      return version;
    },
  };
}
