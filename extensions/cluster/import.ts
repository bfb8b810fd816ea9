/**
 * An import into a cluster. The leads are staged as for a file. Then each short step is planned from the local file by the
 * rules of an import into a file, and written in one transaction. If others have written in between, it is planned again.
 */
import { tmpdir } from "node:os";
import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Account, AccountNumber } from "../../src/db/accounts.ts";
import { type Connection, premise, WriteRefused } from "../../src/db/connection.ts";
import { createPixel } from "../../src/db/pixels.ts";
import { placeholder } from "../../src/db/placeholder.ts";
import { imports, leads as stored } from "../../src/db/schema.ts";
import { ImportInterrupted, type ImportOptions, type ImportOrigin, type NewLead } from "../../src/import/new-lead.ts";
import type { Importer, MergeProgress, StagedImport } from "../../src/import/staged-import.ts";
import {
  type BatchRecord,
  beginBatch,
  nextBatch,
  noteOutcome,
  progressOf,
  rowOf,
  undoneMeanwhile,
} from "../../src/import/write/batch.ts";
import { openPreparation } from "../../src/import/write/import.ts";
import { openDestination, openLeadWriter, type WriteContext } from "../../src/import/write/lead-writer.ts";
import { type Material, merge, nextSize, shadowTables } from "../../src/import/write/merge.ts";
import { openStaging } from "../../src/import/write/staging.ts";
import type { Placed, StoredLeads } from "../../src/import/write/stored-leads.ts";
import type { ClusterDatabase } from "./database.ts";
import { type Statement, statementOf } from "./node.ts";
import { type NodeFile, openReadOnly } from "./node-file.ts";
import { importId, isUnchangedSince, type Position } from "./transaction.ts";

/**
 * A small step takes most of its time on the way to the nodes and their disks. All nodes serve under their leases while they
 * apply a step, so it must be short.
 */
const steps = { min: 500, max: 2_000, shortMs: 200, longMs: 500 };
/** A step of large leads ends with the one that brings it to this many characters. */
const maxCharacters = 2 << 20;
/** More plans are needed only if others write all the time. */
const maxPlans = 200;

/** Returns what imports into the cluster. */
export function clusterImporter(database: ClusterDatabase): Importer {
  return {
    begin: (...asked) => beginImport(database, ...asked),
    async writeLeads(account, leads, { nowMs, ...options }) {
      const planner = openPlanner(database.file, account, options);
      const contextOf = () => ({ batch: 0, nowMs, stampMs: nowMs });
      return [...(await writePlanned(database, planner, account, leads, contextOf, () => [])).outcomes];
    },
  };
}

/** Begins an import; nothing is written to the cluster before `merge`. */
function beginImport(
  database: ClusterDatabase,
  account: Account,
  options: ImportOptions,
  origin: ImportOrigin,
): StagedImport {
  // A connection that cannot write the file of the node has temporary tables. Their folder is not that of rqlite.
  const connection = openReadOnly(database.path);
  const staging = openStaging(connection.$client, tmpdir());
  const preparation = openPreparation(database.read, account.number, { connection, staging }, options);
  return {
    ...preparation,
    async preview(mayShareIds) {
      await database.catchUp();
      return await preparation.preview(mayShareIds);
    },
    async *merge(read, now) {
      staging.sort();
      const material = { options, origin, staging, read, now };
      yield* options.dryRun
        ? runDry(connection, account.number, material)
        : mergeIntoCluster(database, account.number, material);
    },
    close: () => connection.$client.close(),
  };
}

/** Runs an import without writing: into temporary tables in front of those of the file. */
async function* runDry(
  connection: Connection,
  account: AccountNumber,
  material: Material,
): AsyncGenerator<MergeProgress> {
  shadowTables(connection, account);
  yield* merge(connection, account, material);
}

async function* mergeIntoCluster(
  database: ClusterDatabase,
  account: AccountNumber,
  material: Material,
): AsyncGenerator<MergeProgress> {
  const { options, origin, staging, now } = material;
  const planner = openPlanner(database.file, account, options);
  let size = steps.min;
  let record = beginBatch(account, origin, material.read);
  let isDone = false;
  for (let done = 0; !isDone; ) {
    const { leads, isLast } = takeStep(staging.read(done, size), size);
    isDone = isLast;
    const startedMs = performance.now();
    record = await writeStep(database, planner, record, { leads, isDone, nowMs: now() });
    size = nextSize(size, performance.now() - startedMs, steps);
    done += leads.length;
    yield { done, ...progressOf(record) };
  }
}

/** Takes the leads of a step. Returns whether no more can follow, too. */
function takeStep(following: Iterable<NewLead>, max: number): { leads: NewLead[]; isLast: boolean } {
  const leads: NewLead[] = [];
  let characters = 0;
  for (const lead of following) {
    leads.push(lead);
    characters += lead.document.length;
    if (characters >= maxCharacters) return { leads, isLast: false };
  }
  return { leads, isLast: leads.length < max };
}

/** Writes one step and the state of the batch after it. Returns the record of the batch. */
async function writeStep(
  database: ClusterDatabase,
  planner: Planner,
  before: BatchRecord,
  { leads, isDone, nowMs }: { readonly leads: readonly NewLead[]; readonly isDone: boolean; readonly nowMs: number },
): Promise<BatchRecord> {
  let after = before;
  const contextOf = () => {
    const number = before.isThere ? before.number : nextBatch(database.read);
    after = { ...before, number, counts: { ...before.counts } };
    return { batch: number, nowMs, stampMs: before.startedMs };
  };
  await writePlanned(database, planner, before.account, leads, contextOf, ({ outcomes }) => {
    for (const outcome of outcomes) noteOutcome(after, outcome);
    const row = rowOf(after, isDone ? nowMs : null);
    after.isThere ||= row !== null;
    if (row === null) return [];
    if (!before.isThere) return [statementOf(database.read.insert(imports).values(row))];
    refuseUndone(database.read, row.number);
    return [statementOf(database.read.update(imports).set(row).where(eq(imports.number, row.number)))];
  });
  return after;
}

function refuseUndone(connection: Connection, number: number): void {
  const batch = connection.select({ at: imports.undoneAt }).from(imports).where(eq(imports.number, number)).get();
  if (batch?.at != null) throw undoneMeanwhile(number);
}

/** Plans some leads and writes the plan with further statements, until there was no other write since it was made. */
async function writePlanned(
  database: ClusterDatabase,
  planner: Planner,
  account: AccountNumber,
  leads: readonly NewLead[],
  contextOf: () => WriteContext,
  recordOf: (plan: Plan) => Statement[],
): Promise<Plan> {
  for (let plans = 0; plans < maxPlans; plans++) {
    const context = contextOf();
    const plan = planner(leads, context);
    if (plan.missingPixels.size > 0) {
      for (const id of plan.missingPixels)
        await createPixel(database, account, { id, status: "active" }, context.nowMs);
      continue;
    }
    const statements = [...statementsOf(plan, account, context.batch), ...recordOf(plan)];
    try {
      await database.commit(importId(account), statements);
      return plan;
    } catch (cause) {
      if (!(cause instanceof WriteRefused)) throw cause;
    }
  }
  throw new ImportInterrupted(
    "The import was interrupted, because others write into the same account all the time. Leads added so far stay.",
    "Import the file again: only the missing leads are added.",
    null,
  );
}

/** A lead at its stored time, as its columns have it. */
interface PlannedLead extends Placed, Pick<NewLead, "id" | "state" | "cityKey" | "hasEmail"> {}

/** The changes that some leads make to the file, which are decided and not written yet. */
export interface Plan {
  /** The last transaction of the file before it was read. */
  readonly since: Position | null;
  readonly outcomes: readonly ReturnType<ReturnType<typeof openLeadWriter>["write"]>[];
  readonly added: readonly PlannedLead[];
  readonly replaced: readonly PlannedLead[];
  /** The pixels that have to be created before the leads can be planned. */
  readonly missingPixels: ReadonlySet<string>;
}

type Planner = (leads: readonly NewLead[], context: WriteContext) => Plan;

/** Opens the planner of one import. In a plan, each lead finds those that were decided before it. */
export function openPlanner(file: NodeFile, account: AccountNumber, options: ImportOptions): Planner {
  return (leads, context) => {
    const { connection, lastPosition } = file.current();
    const since = lastPosition();
    const { leads: inFile, pixels, guard } = openDestination(connection, account);
    const isAt = and(eq(stored.account, account), eq(stored.identifiedAt, placeholder.integer("ms")));
    const takenAt = connection.select({ one: sql`1` }).from(stored).where(isAt).prepare();
    const added = new Map<string, PlannedLead>();
    const replaced = new Map<string, PlannedLead>();
    const times = new Set<number>();
    const missingPixels = new Set<string>();
    const find = (id: string) => added.get(id) ?? inFile.find(id);
    const draft: StoredLeads = {
      ...inFile,
      find,
      firstFree: (ms) => (times.has(ms) ? ms + 1 : inFile.firstFree(ms)),
      insert({ id, state, cityKey, hasEmail }, placed) {
        if (find(id) !== null || times.has(placed.at) || takenAt.values({ ms: placed.at }).length > 0) return false;
        times.add(placed.at);
        added.set(id, { id, state, cityKey, hasEmail, ...placed });
        return true;
      },
      replace({ id, state, cityKey, hasEmail }, placed) {
        (added.has(id) ? added : replaced).set(id, { id, state, cityKey, hasEmail, ...placed });
      },
    };
    // The number does not matter: a plan with missing pixels is not written.
    const make = (id: string) => {
      missingPixels.add(id);
      return 0;
    };
    const writer = openLeadWriter({ guard, pixels: { ...pixels, make }, leads: draft }, options);
    writer.begin(context);
    const outcomes = leads.map(writer.write);
    return { since, outcomes, added: [...added.values()], replaced: [...replaced.values()], missingPixels };
  };
}

/** The statements of a plan. The first one fails if others have written since it was made, and the transaction with it. */
export function statementsOf({ since, added, replaced }: Plan, account: AccountNumber, batch: number): Statement[] {
  return [
    statementOf(premise(isUnchangedSince(since, account))),
    ...(added.length === 0 ? [] : [insertStatement(added, account, batch)]),
    ...(replaced.length === 0 ? [] : [replaceStatement(replaced, account)]),
  ];
}

/** Has no ON CONFLICT: a time or an ID that is taken ends the transaction. */
function insertStatement(added: readonly PlannedLead[], account: AccountNumber, batch: number): Statement {
  return withRows(
    added,
    sql`INSERT INTO ${stored} (account, identified_at, uuid, pixel, state, city_key, has_email, doc, import)
        SELECT ${sql.raw(String(account))}, value ->> 0, unhex(value ->> 1), value ->> 2, value ->> 3, value ->> 4,
          value ->> 5, value ->> 6, ${sql.raw(String(batch))} FROM json_each(?1)`,
  );
}

function replaceStatement(replaced: readonly PlannedLead[], account: AccountNumber): Statement {
  // The leads are found by their IDs first. By itself, SQLite would read the whole account for them.
  const found = sql`SELECT lead.number AS number, one.value AS value FROM json_each(?1) AS one
    CROSS JOIN ${stored} AS lead ON lead.account = ${sql.raw(String(account))} AND lead.identified_at = one.value ->> 0
      AND lead.uuid = unhex(one.value ->> 1)`;
  return withRows(
    replaced,
    sql`WITH found AS MATERIALIZED (${found})
        UPDATE ${stored} SET pixel = value ->> 2, state = value ->> 3, city_key = value ->> 4, has_email = value ->> 5,
          doc = value ->> 6
        FROM found WHERE stored_leads.number = found.number`,
  );
}

/** The rows are the JSON text of the statement: within another JSON text, each quote of a document would be escaped again. */
function withRows(rows: readonly PlannedLead[], query: SQL): Statement {
  const values = rows.map(({ id, at, pixel, state, cityKey, hasEmail, doc }) => {
    return [at, id.replaceAll("-", ""), pixel, state, cityKey, Number(hasEmail), doc];
  });
  return { sql: statementOf(query).sql, json: JSON.stringify(values) };
}
