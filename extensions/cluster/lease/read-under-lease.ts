/** How requests read the file of the node beside: each looks at the file and at the lease once, before it reads. */
import { QueryFailed } from "../../../src/db/serving.ts";
import type { Opening, Replica } from "../replica.ts";
import type { Lease } from "./lease.ts";

/** Reading that opens the file anew where it failed, and the look that refuses where the lease is over, and says why. */
export function readUnderLease(replica: Replica, lease: Lease, refusal: () => string) {
  let seenVersion = Number.NaN;
  let seenOpening = 0;

  function fail(cause: unknown): never {
    lease.lose();
    replica.reopen();
    throw cause instanceof QueryFailed ? cause : new QueryFailed("the file of the node failed", { cause });
  }

  const reading =
    <Asked extends unknown[], Answer>(work: (opening: Opening, ...asked: Asked) => Answer) =>
    (...asked: Asked): Answer => {
      try {
        return work(replica.current(), ...asked);
      } catch (cause) {
        return fail(cause);
      }
    };

  // No opening has so many commits.
  const versionOf = ({ reader }: Opening) => replica.opening() * 2 ** 32 + reader.version();

  /** Looks at the file, tells the lease what it shows by now, and gives the version of it. */
  const see = reading((opening) => {
    const version = versionOf(opening);
    if (version === seenVersion && !lease.isWaiting()) return version;
    if (replica.opening() !== seenOpening) lease.lose();
    lease.seen(opening);
    seenOpening = replica.opening();
    seenVersion = version;
    // A commit in between may have brought the lease. What was kept before that commit must not be answered any more.
    return versionOf(opening);
  });
  return {
    reading,
    see,
    /** The one look of a request. */
    version() {
      const version = see();
      if (!lease.holds()) throw new QueryFailed(refusal());
      return version;
    },
  };
}
