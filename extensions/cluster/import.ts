/**
 * An import into a cluster. The leads are staged and merged as into a file, but each short step is only planned on top of the
 * local file, and the plan is written in one transaction. If others have written in between, it is planned again.
 */
import { constants, Database } from "bun:sqlite";
import { tmpdir } from "node:os";
import { and, eq, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { AccountNumber } from "../../src/db/accounts.ts";
import { assertInTransaction, DatabaseUnavailable, type Statement, tryToWrite } from "../../src/db/connection.ts";
import { orElse } from "../../src/db/failure.ts";
import { insertPixel } from "../../src/db/pixels.ts";
import { placeholder } from "../../src/db/placeholder.ts";
import { pixels, leads as stored } from "../../src/db/schema.ts";
import { nextSize } from "../../src/db/steps.ts";
import type { Work } from "../../src/db/transactions.ts";
import { ImportInterrupted, type NewLead } from "../../src/import/new-lead.ts";
import { beginImport, type Importer } from "../../src/import/write/import.ts";
import { type Destination, openDestination } from "../../src/import/write/lead-writer.ts";
import type { ImportTarget } from "../../src/import/write/merge.ts";
import { nextNumber, type Placed, type StoredLeads } from "../../src/import/write/stored-leads.ts";
import type { ClusterDatabase } from "./database.ts";
import { type Opening, openReadOnly } from "./node-file.ts";
import { revisionNow } from "./transactions.ts";

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
  return (account, options, origin) => {
    let statements: () => Statement[] = () => [];
    const place = options.dryRun ? openDryPlace(database.path) : openStagingPlace(database.path);
    const target: ImportTarget = {
      read: database.read,
      connection: place.connection,
      // The folder of temporary tables is not that of rqlite.
      folder: tmpdir(),
      async catchUp() {
        await database.catchUp();
        place.attach();
      },
      open(nowMs) {
        const plan = openPlan(database.file.current(), account.number, nowMs);
        statements = plan.statements;
        return plan.destination;
      },
      async *transactions(work) {
        place.detach();
        try {
          yield* inSteps(work, database, () => statements());
        } catch (cause) {
          if (!(cause instanceof DatabaseUnavailable)) throw cause;
          throw interrupted(`. ${cause.message}`, "Run the same command again, here or on another node", cause);
        }
      },
    };
    return beginImport(target, account, options, origin);
  };
}

/** Opens the file of the node, whose tables a dry run reads by their names. */
function openDryPlace(path: string) {
  return { connection: openReadOnly(path), attach() {}, detach() {} };
}

/**
 * Opens a connection for staged leads, which has the file of the node only while they are compared with it. A node that
 * restarts may keep the file, but not its WAL index: a connection that remains open would keep the old index in use.
 */
function openStagingPlace(path: string) {
  const { SQLITE_OPEN_READWRITE: writable, SQLITE_OPEN_CREATE: created, SQLITE_OPEN_URI: withUrls } = constants;
  const connection = drizzle({ client: new Database(":memory:", writable | created | withUrls) });
  let isAttached = false;
  return {
    connection,
    attach(): void {
      if (!isAttached) connection.run(sql`ATTACH ${`${Bun.pathToFileURL(path)}?mode=ro`} AS node`);
      isAttached = true;
    },
    detach(): void {
      if (isAttached) connection.$client.run("DETACH node");
      isAttached = false;
    },
  };
}

/** Runs each step of the work as one transaction of the cluster, which is planned again if another write came first. */
async function* inSteps(work: Work, database: ClusterDatabase, plan: () => readonly Statement[]): AsyncGenerator<void> {
  let [size, plans] = [steps.min, 0];
  for (let isLeft = true; isLeft; ) {
    const startedMs = performance.now();
    // Waits for a node that restarts.
    if (orElse(() => database.read, null) === null) await database.catchUp();
    work.begin();
    const isMoreLeft = work.step(size);
    work.end(!isMoreLeft);
    if (await tryToWrite(database, plan())) {
      [isLeft, plans] = [isMoreLeft, 0];
      size = nextSize(size, performance.now() - startedMs, steps);
      yield;
    } else {
      if (++plans === maxPlans) throw interrupted(" by other writes to the same account.", "Import the file again");
      work.rollBack();
    }
  }
}

function interrupted(by: string, again: string, cause: unknown = null): ImportInterrupted {
  return new ImportInterrupted(
    `The import was interrupted${by} Leads that were added before are kept.`,
    `${again}: only the missing leads are added.`,
    cause,
  );
}

/** A destination that collects the statements of a transaction. */
export function openPlan({ connection, revision }: Opening, account: AccountNumber, nowMs: number) {
  const file = openDestination(connection, account, nowMs);
  // The first statement fails if the plan is outdated, and the transaction with it.
  const statements = [
    assertInTransaction(isPlannedOn(revision(), file.leads.newest()?.at ?? Number.MIN_SAFE_INTEGER, account)),
  ];
  const run: Destination["run"] = (statement) => void statements.push(statement);
  const { leads, isFull, insertStatements } = planLeads(file, account);
  const destination: Destination = {
    ...file,
    leads,
    isFull,
    pixels: planPixels(file, account, nowMs, run),
    // Each lead is read: no lead is inserted by a statement that reads the staged leads.
    guard: { ...file.guard, acceptsAllFrom: () => false },
    run,
  };
  return { destination, statements: () => [...statements, ...insertStatements()] };
}

/**
 * Returns a condition that is true while no write has changed what a plan depends on and no constraint protects.
 * A block increments the revision. Clients that poll may already have read a lead newer than `newestMs`.
 */
function isPlannedOn(revisionThen: number, newestMs: number, account: AccountNumber): SQL {
  const newer = sql`SELECT 1 FROM ${stored} WHERE account = ${account} AND identified_at > ${newestMs}`;
  return sql`${revisionNow} = ${revisionThen} AND NOT EXISTS (${newer})`;
}

function planPixels(file: Destination, account: AccountNumber, nowMs: number, run: Destination["run"]) {
  const made = new Map<string, number>();
  return {
    find: (id: string) => made.get(id) ?? file.pixels.find(id),
    make(id: string): number {
      const [[last] = [null]] = file.read.values<[number | null]>(sql`SELECT max(number) FROM ${pixels}`);
      // The number that SQLite would choose. If it is taken by then, the transaction fails.
      const number = (last ?? 0) + made.size + 1;
      made.set(id, number);
      run(insertPixel(file.read, account, { id, status: "active", number }, nowMs));
      return number;
    },
  };
}

/** A lead at its stored time, as its columns have it. */
interface PlannedLead extends Placed, Pick<NewLead, "id" | "state" | "cityKey" | "hasEmail"> {}

/** Plans leads, each of which finds those that were planned before it. */
function planLeads({ read, leads: inFile }: Destination, account: AccountNumber) {
  const isAt = and(eq(stored.account, account), eq(stored.identifiedAt, placeholder.integer("ms")));
  const takenAt = read.select({ one: sql`1` }).from(stored).where(isAt).prepare();
  const added = new Map<string, PlannedLead>();
  const replaced = new Map<string, PlannedLead>();
  const times = new Set<number>();
  let characters = 0;

  function plan(to: typeof added, { id, state, cityKey, hasEmail }: NewLead, placed: Placed): void {
    to.set(id, { id, state, cityKey, hasEmail, ...placed });
    characters += placed.doc.length;
  }

  const find = (id: string) => added.get(id) ?? inFile.find(id);
  const leads: StoredLeads = {
    ...inFile,
    find,
    firstFree: (ms) => (times.has(ms) ? ms + 1 : inFile.firstFree(ms)),
    insert(lead, placed) {
      const ms = placed.at;
      if (find(lead.id) !== null || times.has(ms) || takenAt.values({ ms }).length > 0) return false;
      times.add(ms);
      plan(added, lead, placed);
      return true;
    },
    replace: (lead, placed) => plan(added.has(lead.id) ? added : replaced, lead, placed),
  };
  return {
    leads,
    isFull: () => characters >= maxCharacters,
    /** A time or an ID that is taken ends the transaction. */
    insertStatements: () => [
      ...(added.size === 0 ? [] : [insertStatement(account, [...added.values()])]),
      ...(replaced.size === 0 ? [] : [replaceStatement(account, [...replaced.values()])]),
    ],
  };
}

/** The leads are a list among the values: within a JSON text, each quote of a document would be escaped again. */
function insertStatement(account: AccountNumber, leads: readonly PlannedLead[]): Statement {
  return sql`INSERT INTO ${stored} (number, account, identified_at, uuid, pixel, state, city_key, has_email, doc, import)
    SELECT ${nextNumber} + key, value ->> 0, value ->> 1, unhex(value ->> 2), value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7,
      value ->> 8 FROM json_each(${rowsOf(account, leads)})`;
}

/** A replaced lead keeps its time, its ID, and its import. One that others have deleted is not stored again. */
function replaceStatement(account: AccountNumber, leads: readonly PlannedLead[]): Statement {
  return sql`UPDATE ${stored} SET pixel = value ->> 3, state = value ->> 4, city_key = value ->> 5,
    has_email = value ->> 6, doc = value ->> 7 FROM json_each(${rowsOf(account, leads)})
    WHERE account = value ->> 0 AND identified_at = value ->> 1 AND uuid = unhex(value ->> 2)`;
}

/** Returns the leads as rows of one parameter. Each has the account, so that SQLite looks up one lead after the other by the index. */
function rowsOf(account: AccountNumber, leads: readonly PlannedLead[]): SQLWrapper {
  const rows = leads.map(({ id, at, pixel, state, cityKey, hasEmail, doc, importNumber }) => {
    return [account, at, id.replaceAll("-", ""), pixel, state, cityKey, Number(hasEmail), doc, importNumber];
  });
  return sql.param(rows);
}
