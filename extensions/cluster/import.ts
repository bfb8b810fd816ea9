/**
 * An import into a cluster. The leads are staged and merged as into a file, but each short step is only planned on top of the
 * local file, and the plan is written in one transaction. If others have written in between, it is planned again.
 */
import { tmpdir } from "node:os";
import { and, eq, sql } from "drizzle-orm";
import type { AccountNumber } from "../../src/db/accounts.ts";
import { premise, type Statement, WriteRefused } from "../../src/db/connection.ts";
import { insertPixel } from "../../src/db/pixels.ts";
import { placeholder } from "../../src/db/placeholder.ts";
import { pixels, leads as stored } from "../../src/db/schema.ts";
import { nextSize } from "../../src/db/steps.ts";
import { ImportInterrupted, type NewLead } from "../../src/import/new-lead.ts";
import { beginImport, type Importer } from "../../src/import/write/import.ts";
import { type Destination, openDestination, writeLeads } from "../../src/import/write/lead-writer.ts";
import type { Placed, StoredLeads } from "../../src/import/write/stored-leads.ts";
import type { Work } from "../../src/import/write/transactions.ts";
import type { ClusterDatabase } from "./database.ts";
import { type Opening, openReadOnly } from "./node-file.ts";
import { importId, isUnchangedSince } from "./transaction.ts";

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
    begin({ number }, ...asked) {
      const { open, write } = openPlans(database, number);
      const place = {
        read: database.read,
        // A connection that cannot write the file of the node has temporary tables. Their folder is not that of rqlite.
        connection: openReadOnly(database.path),
        folder: tmpdir(),
        catchUp: () => database.catchUp(),
        open,
        transactions: (work: Work) => inSteps(work, write),
      };
      return beginImport(place, number, ...asked);
    },
    async writeLeads(account, leads, options) {
      const { open, write } = openPlans(database, account);
      return await write(() => writeLeads(open(options.nowMs), leads, options));
    },
  };
}

/** Does work in transactions of one step each. */
async function* inSteps(work: Work, write: ReturnType<typeof openPlans>["write"]): AsyncGenerator<void> {
  let size = steps.min;
  for (let isLeft = true; isLeft; ) {
    const startedMs = performance.now();
    isLeft = await write(
      () => {
        work.begin();
        const isMoreLeft = work.step(size);
        work.end(!isMoreLeft);
        return isMoreLeft;
      },
      () => work.rollBack(),
    );
    size = nextSize(size, performance.now() - startedMs, steps);
    yield;
  }
}

/** Opens the plans of an import. `write` does work with the plan that it opens, and writes the plan. */
function openPlans(database: Pick<ClusterDatabase, "file" | "commit">, account: AccountNumber) {
  let statements: () => Statement[] = () => [];
  return {
    open(nowMs: number): Destination {
      const plan = openPlan(database.file.current(), account, nowMs);
      statements = plan.statements;
      return plan.destination;
    },
    /** Does the work again, after `rollBack`, until there was no other write since it began. */
    async write<Result>(work: () => Result, rollBack = () => {}): Promise<Result> {
      for (let plans = 0; plans < maxPlans; plans++) {
        const result = work();
        try {
          await database.commit(importId(account), statements());
          return result;
        } catch (cause) {
          if (!(cause instanceof WriteRefused)) throw cause;
          rollBack();
        }
      }
      throw new ImportInterrupted(
        "The import was interrupted by other writes to the same account. Leads that were added before are kept.",
        "Import the file again: only the missing leads are added.",
        null,
      );
    },
  };
}

/** A destination that collects the statements of a transaction. */
export function openPlan({ connection, lastPosition }: Opening, account: AccountNumber, nowMs: number) {
  // The first statement fails if others have written since, and the transaction with it.
  const statements = [premise(isUnchangedSince(lastPosition(), account))];
  const run: Destination["run"] = (statement) => void statements.push(statement);
  const file = openDestination(connection, account, nowMs);
  const { leads, isFull, insertStatements } = planLeads(file, account);
  const destination: Destination = {
    ...file,
    leads,
    isFull,
    pixels: planPixels(file, account, nowMs, run),
    // Each lead is looked at: none is inserted by a statement that reads what was staged.
    guard: { ...file.guard, acceptsAllFrom: () => false },
    run,
  };
  return { destination, statements: () => [...statements, ...insertStatements()] };
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
    /** A time or an ID that is taken ends the transaction, unless its lead is replaced. */
    insertStatements: () => [
      ...(added.size === 0 ? [] : [insertStatement([...added.values()], account)]),
      ...(replaced.size === 0 ? [] : [insertStatement([...replaced.values()], account, replacing)]),
    ],
  };
}

/** A replaced lead keeps its time, its ID, and its import. */
const replacing = sql`WHERE TRUE ON CONFLICT (account, identified_at) DO UPDATE SET pixel = excluded.pixel,
  state = excluded.state, city_key = excluded.city_key, has_email = excluded.has_email, doc = excluded.doc`;

/** The leads are a list among the values: within a JSON text, each quote of a document would be escaped again. */
function insertStatement(leads: readonly PlannedLead[], account: AccountNumber, otherwise = sql``): Statement {
  const rows = leads.map(({ id, at, pixel, state, cityKey, hasEmail, doc, batch }) => {
    return [account, at, id.replaceAll("-", ""), pixel, state, cityKey, Number(hasEmail), doc, batch];
  });
  return sql`INSERT INTO ${stored} (account, identified_at, uuid, pixel, state, city_key, has_email, doc, import)
    SELECT value ->> 0, value ->> 1, unhex(value ->> 2), value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7,
      value ->> 8 FROM json_each(${sql.param(rows)}) ${otherwise}`;
}
