/**
 * An import into a cluster: put aside as on a file, then planned from the file of the own node and written in short steps. A
 * step that does not fit any more, because somebody else has written, is planned anew.
 */
import { Database } from "bun:sqlite";
import { tmpdir } from "node:os";
import { eq } from "drizzle-orm";
import type { Connection } from "../../sqlite/connection.ts";
import { type BatchRecord, nextBatch } from "../../sqlite/import/batches.ts";
import { shadowTables } from "../../sqlite/import/import.ts";
import { countOutcome, openMerge } from "../../sqlite/import/merge.ts";
import { openStaging, type StagedLead, type Staging } from "../../sqlite/import/staging.ts";
import { prepareImport } from "../../sqlite/import/statements.ts";
import { createStepSize } from "../../sqlite/import/step-size.ts";
import { openPixels } from "../../sqlite/pixels.ts";
import { imports } from "../../sqlite/schema.ts";
import { StoreError } from "../../store/errors.ts";
import type { ImportCounts, ImportOptions, ImportOrigin, MergeProgress, StagedImport } from "../../store/imports.ts";
import type { Account } from "../../store/repositories.ts";
import type { Statement } from "../node/node.ts";
import { statementOf } from "../node/statement.ts";
import { openReadOnly } from "../replica.ts";
import { openPlanner, type Plan, type Planner } from "./plan.ts";
import { type ClusterImporting, writePlanned } from "./write-planned.ts";

/**
 * Most of the time of a small step goes into the way to the nodes and their disks. All nodes answer from their leases
 * while they apply a step, which is a part of its time: it must be short.
 */
const steps = { least: 500, most: 2_000, shortMs: 200, longMs: 500 };

export function beginClusterImport(
  cluster: ClusterImporting,
  account: Account,
  options: ImportOptions,
  origin: ImportOrigin,
): StagedImport {
  const { database, file, writer } = cluster;
  // The folder of the node is rqlite's.
  const aside = new Database(":memory:");
  const staging = openStaging(aside, tmpdir());
  const stored = prepareImport(database, account.number);
  const readPixels = openPixels(database);
  let batch: number | null = null;
  return {
    add: staging.add,
    reject: staging.reject,
    isStored: (id) => stored.momentOf(id) !== null,
    hasPixel: (id) => readPixels.has(account.number, id),
    outlook(mayShareIds) {
      staging.sort();
      writer.catchUp();
      return staging.outlook(stored.newest(), mayShareIds);
    },
    rejectedRows: staging.rejectedRows,
    async *merge(before, now) {
      if (options.dryRun) {
        yield* runDry(file.path, account, { options, origin, staging }, before, now);
        return;
      }
      const merge = openClusterMerge(cluster, account, { options, origin, staging });
      for (const progress of merge.run(before, now)) {
        batch = merge.batch();
        yield progress;
      }
    },
    batch: () => batch,
    close: () => aside.close(),
  };
}

interface Material {
  readonly options: ImportOptions;
  readonly origin: ImportOrigin;
  readonly staging: Pick<Staging, "read">;
}

/** A dry run writes to tables of its own, in front of the file. */
async function* runDry(path: string, { number }: Account, material: Material, before: ImportCounts, now: () => number) {
  const database = openReadOnly(path);
  try {
    shadowTables(database, number);
    yield* openMerge(database, number, { ...material, stretches: null }).run(before, now);
  } finally {
    database.$client.close();
  }
}

function openClusterMerge(cluster: ClusterImporting, account: Account, { options, origin, staging }: Material) {
  const planner = openPlanner(cluster.database, account.number, options);
  const record: BatchRecord = {
    number: 0,
    account: account.number,
    isThere: false,
    oldestMs: null,
    newestMs: null,
    ...origin,
  };

  function* run(before: ImportCounts, now: () => number): Generator<MergeProgress> {
    let counts = { ...before };
    const size = createStepSize(steps);
    let isDone = false;
    for (let done = 0; !isDone; ) {
      const leads = staging.read(done, size.leads());
      isDone = leads.length < size.leads();
      const step = { leads, isDone, nowMs: now(), stampMs: origin.startedMs };
      counts = size.timed(() => writeStep(cluster, planner, record, { ...step, counts }));
      done += leads.length;
      yield { done, counts: { ...counts } };
    }
  }
  return { run, batch: () => (record.isThere ? record.number : null) };
}

interface Step {
  readonly leads: readonly StagedLead[];
  /** Before this step. */
  readonly counts: ImportCounts;
  readonly isDone: boolean;
  readonly nowMs: number;
  readonly stampMs: number;
}

/** Writes one step, with how far the batch is then, and gives the counts after it. */
function writeStep(cluster: ClusterImporting, planner: Planner, record: BatchRecord, step: Step): ImportCounts {
  const { nowMs, stampMs } = step;
  const { isThere } = record;
  const plan = writePlanned(cluster, planner, record.account, step.leads, {
    placing: () => {
      if (!isThere) record.number = nextBatch(cluster.database);
      return { batch: record.number, nowMs, stampMs };
    },
    isThere,
    recorded(made) {
      const after = countsAfter(step, made);
      if (after.imported + after.replaced === 0) return [];
      const next = { ...record, ...spanWith(record, made) };
      return [recordStatement(cluster.database, next, after, step.isDone ? nowMs : null)];
    },
    refused: () => refuseUndone(cluster.database, record),
  });
  const after = countsAfter(step, plan);
  Object.assign(record, spanWith(record, plan), { isThere: isThere || after.imported + after.replaced > 0 });
  return after;
}

function countsAfter({ leads, counts }: Step, { outcomes }: Plan): ImportCounts {
  const after = { ...counts };
  for (const [place, outcome] of outcomes.entries()) countOutcome(outcome, leads[place]?.clamped ?? false, after);
  return after;
}

/** The oldest and the newest lead of the batch, with those that a plan adds. */
function spanWith({ oldestMs, newestMs }: BatchRecord, { added }: Plan): Pick<BatchRecord, "oldestMs" | "newestMs"> {
  return added.reduce(
    (span, { atMs }) => ({
      oldestMs: Math.min(span.oldestMs ?? atMs, atMs),
      newestMs: Math.max(span.newestMs ?? atMs, atMs),
    }),
    { oldestMs, newestMs },
  );
}

/** Writes how far a batch is, in the transaction that brought it there. */
function recordStatement(
  database: Connection,
  { number, account, file, by, rejectsFile, startedMs, oldestMs, newestMs, isThere }: BatchRecord,
  counts: ImportCounts,
  finishedMs: number | null,
): Statement {
  const known = { ...counts, finishedAt: finishedMs, oldest: oldestMs, newest: newestMs };
  if (isThere) return statementOf(database.update(imports).set(known).where(eq(imports.number, number)));
  return statementOf(
    database.insert(imports).values({ number, account, at: startedMs, file, by, rejectsFile, ...known }),
  );
}

function refuseUndone(database: Connection, { number, isThere }: BatchRecord): void {
  if (!isThere) return;
  const undone = database.select({ at: imports.undoneAt }).from(imports).where(eq(imports.number, number)).get();
  if (undone?.at != null) throw new StoreError({ kind: "import undone meanwhile", number });
}
