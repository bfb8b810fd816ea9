/**
 * Erasing on a cluster, by the very steps of a file: when the last one is done, every node has shown it or answers nobody.
 * The bytes are in the logs of the nodes until those are scrubbed.
 */
import type { Connection } from "../../../src/db/connection.ts";
import { noTraces, openRetentionWith } from "../../../src/privacy/retention.ts";
import { openTraces } from "../../../src/privacy/traces-left.ts";
import type { PeopleRepository, RetentionRepository, Traces } from "../../../src/store/privacy.ts";
import type { Writer } from "../writer.ts";

/** The same people; no bytes are looked for here. */
export function openClusterPeople(people: PeopleRepository, database: Connection, writer: Writer): PeopleRepository {
  return {
    ...people,
    erase(account, persons, how, nowMs) {
      // What another node has imported until now is found.
      writer.catchUp();
      const erasure = people.erase(account, persons, how, nowMs);
      return {
        ...erasure,
        *steps() {
          yield* thenEverywhere(erasure.steps(), writer);
          // The bytes are in the logs. Whoever restores a backup of the file need not look for them in it.
          openTraces(database).forget();
        },
        removeTraces: () => inLogs(writer),
      };
    },
    unblock(account, identifier, nowMs) {
      // What another node has erased until now is known.
      writer.catchUp();
      return people.unblock(account, identifier, nowMs);
    },
  };
}

export function openClusterRetention(database: Connection, writer: Writer): RetentionRepository {
  const retention = openRetentionWith(database, () => inLogs(writer));
  return {
    ...retention,
    set(account, days, nowMs) {
      const retaining = retention.set(account, days, nowMs);
      return {
        ...retaining,
        *steps() {
          yield* thenEverywhere(retaining.steps(), writer);
        },
      };
    },
  };
}

/** Waits for every node, also where the caller asks for no further step: nobody serves what is reported as gone. */
function* thenEverywhere<Step>(steps: Iterable<Step>, writer: Writer): Generator<Step> {
  try {
    yield* steps;
  } finally {
    writer.commitEverywhere([]);
  }
}

/** Nothing is served any more, and all logs still hold it. */
function inLogs(writer: Writer): Traces {
  return { ...noTraces, inLogsOf: writer.nodeNames() };
}
