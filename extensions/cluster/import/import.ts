/**
 * An import into a cluster. The leads are put aside as for a file. Then each short step is planned from the file of the
 * own node, and written. Where somebody else has written meanwhile and the plan does not fit any more, a new one is made.
 */
import { tmpdir } from "node:os";
import { eq } from "drizzle-orm";
import type { Account } from "../../../src/db/accounts.ts";
import { type Connection, closing } from "../../../src/db/connection.ts";
import { openPixels } from "../../../src/db/pixels.ts";
import { imports } from "../../../src/db/schema.ts";
import type { ImportOptions, ImportOrigin, NewLead } from "../../../src/import/new-lead.ts";
import type { Importer, MergeProgress, StagedImport } from "../../../src/import/staged-import.ts";
import {
  type BatchRecord,
  beginBatch,
  nextBatch,
  noteOutcome,
  progressOf,
  rowOf,
  undoneMeanwhile,
} from "../../../src/import/write/batch.ts";
import { openPreparation } from "../../../src/import/write/import.ts";
import { type Material, merge, nextSize, shadowTables } from "../../../src/import/write/merge.ts";
import { openStaging } from "../../../src/import/write/staging.ts";
import { openCapturing } from "../capturing.ts";
import { openReadOnly } from "../local-file.ts";
import type { Statement } from "../node/node.ts";
import { statementOf } from "../node/statement.ts";
import type { Writer } from "../writer.ts";
import { openPlanner, type Plan, type Planner } from "./plan.ts";
import { beginClusterLeads, type ClusterImporting, writePlanned } from "./write-planned.ts";

/**
 * Most of the time of a small step goes into the way to the nodes and their disks. All nodes answer from their leases
 * while they apply a step, which is a part of its time: it must be short.
 */
const steps = { min: 500, max: 2_000, shortMs: 200, longMs: 500 };
/** A step of large leads has fewer of them: it ends with the one that brings it to this many characters. */
const mostCharacters = 2 << 20;

/** What imports into the cluster. */
export function clusterImporter(writer: Writer): Importer {
  const database = openCapturing(writer);
  const importing = { database, writer, pixels: openPixels(database) };
  return {
    begin: (...asked) => beginClusterImport(importing, ...asked),
    writeLeads: async (account, leads, { nowMs, ...options }) =>
      beginClusterLeads(importing, account, options).write(leads, nowMs),
  };
}

/** Begins an import; nothing reaches the cluster before `merge`. */
function beginClusterImport(
  cluster: ClusterImporting,
  account: Account,
  options: ImportOptions,
  origin: ImportOrigin,
): StagedImport {
  const { database, writer } = cluster;
  // Temporary tables on a connection that cannot write the file of the node. Their folder is rqlite's, so they are elsewhere.
  const connection = openReadOnly(writer.file.path);
  const staging = openStaging(connection.$client, tmpdir());
  const preparation = openPreparation(database, account.number, { connection, staging }, options);
  return {
    ...preparation,
    async preview(mayShareIds) {
      writer.catchUp();
      return await preparation.preview(mayShareIds);
    },
    async *merge(read, now) {
      staging.sort();
      const material = { options, origin, staging, read, now };
      yield* options.dryRun
        ? runDry(writer.file.path, account, material)
        : mergeIntoCluster(cluster, account, material);
    },
    close: () => connection.$client.close(),
  };
}

type ClusterMaterial = Omit<Material, "isSameConnection">;

/** A dry run writes to tables of its own, in front of the file. */
async function* runDry(path: string, { number }: Account, material: ClusterMaterial): AsyncGenerator<MergeProgress> {
  using database = closing(openReadOnly(path));
  shadowTables(database, number);
  yield* merge(database, number, { ...material, isSameConnection: false });
}

function* mergeIntoCluster(
  cluster: ClusterImporting,
  account: Account,
  material: ClusterMaterial,
): Generator<MergeProgress> {
  const { options, origin, staging, now } = material;
  const planner = openPlanner(cluster.database, account.number, options);
  let size = steps.min;
  let record = beginBatch(account.number, origin, material.read);
  let isDone = false;
  for (let done = 0; !isDone; ) {
    const { leads, isLast } = takeStep(staging.read(done, size), size);
    isDone = isLast;
    const step = { leads, isDone, nowMs: now(), stampMs: origin.startedMs };
    const begunMs = performance.now();
    record = writeStep(cluster, planner, record, step);
    size = nextSize(size, performance.now() - begunMs, steps);
    done += leads.length;
    yield { done, ...progressOf(record) };
  }
}

/** The leads of a step, and whether no more can follow. */
function takeStep(following: Iterable<NewLead>, most: number): { leads: NewLead[]; isLast: boolean } {
  const leads: NewLead[] = [];
  let characters = 0;
  for (const lead of following) {
    leads.push(lead);
    characters += lead.document.length;
    if (characters >= mostCharacters) return { leads, isLast: false };
  }
  return { leads, isLast: leads.length < most };
}

interface Step {
  readonly leads: readonly NewLead[];
  readonly isDone: boolean;
  readonly nowMs: number;
  readonly stampMs: number;
}

/** Writes one step, with how far the batch is then, and gives the record of the batch after it. */
function writeStep(cluster: ClusterImporting, planner: Planner, before: BatchRecord, step: Step): BatchRecord {
  const { database } = cluster;
  const { leads, nowMs, stampMs } = step;
  const { account, isThere } = before;
  let { number } = before;
  const recordAfter = (plan: Plan) => withOutcomes({ ...before, number }, plan);
  const rowAfter = (plan: Plan) => rowOf(recordAfter(plan), step.isDone ? nowMs : null);
  const written = writePlanned(cluster, planner, account, leads, {
    context: () => {
      if (!isThere) number = nextBatch(database);
      return { batch: number, nowMs, stampMs };
    },
    isThere,
    recorded: (plan) => recordStatements(database, isThere, rowAfter(plan)),
    refused: () => refuseUndone(database, before),
  });
  return { ...recordAfter(written), isThere: isThere || rowAfter(written) !== null };
}

/** The record of a batch with what became of further leads. */
function withOutcomes(before: BatchRecord, { outcomes }: Plan): BatchRecord {
  const after = { ...before, counts: { ...before.counts } };
  for (const outcome of outcomes) noteOutcome(after, outcome);
  return after;
}

/** Writes how far a batch is, in the transaction that brought it there. */
function recordStatements(database: Connection, isThere: boolean, row: ReturnType<typeof rowOf>): Statement[] {
  if (row === null) return [];
  const { number } = row;
  if (!isThere) return [statementOf(database.insert(imports).values(row))];
  return [statementOf(database.update(imports).set(row).where(eq(imports.number, number)))];
}

function refuseUndone(database: Connection, { number, isThere }: BatchRecord): void {
  if (!isThere) return;
  const undone = database.select({ at: imports.undoneAt }).from(imports).where(eq(imports.number, number)).get();
  if (undone?.at != null) throw undoneMeanwhile(number);
}
