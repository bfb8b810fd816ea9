/** How far clients have read, and which late leads they have passed. */
import { and, asc, eq, gt, gte, isNull, lt, max, or } from "drizzle-orm";
import type { Lead } from "../../contract/lead.ts";
import type { Connection } from "../../db/connection.ts";
import { disclosures, imports, keys, leads } from "../../db/schema.ts";
import { oldestKeptDay } from "./ledger.ts";
import { readFilter } from "./pages.ts";
import { arrivedLead } from "./recipients.ts";

/** How far a live key has read, by filter; nothing of a key that never read. */
export interface ReadPosition {
  readonly key: string;
  readonly label: string | null;
  readonly prefix: string;
  readonly upToMs: ReadonlyMap<string, number>;
}

/** How many of the late leads a client that polls has passed, and how far back a poll must look to meet them. */
export interface Passed {
  readonly key: string;
  readonly label: string | null;
  readonly prefix: string;
  readonly late: number;
  readonly overlapSeconds: number;
}

/** How far clients had read when an import wrote its leads after a timestamp; null means all of its leads. */
export interface Reached {
  readonly afterMs: number | null;
  readonly positions: readonly ReadPosition[];
}

/** What clients have passed of an import that is written; of two positions that hold for a lead the last one counts. */
export function passedLeads(
  database: Connection,
  account: number,
  batch: number,
  reached: readonly Reached[],
): readonly Passed[] {
  const furthest = reached.flatMap(({ positions }) => positions.flatMap(({ upToMs }) => [...upToMs.values()]));
  if (furthest.length === 0) return [];
  const clients = reached.map(({ afterMs, positions }) => ({ afterMs, clients: positions.map(openClient) }));
  const passed = new Map<string, Passed>();
  for (const lead of leadsOfBatch(database, account, batch, Math.max(...furthest))) {
    const ms = Date.parse(lead.identified_at);
    const then = clients.findLast(({ afterMs }) => afterMs === null || afterMs < ms);
    for (const { position, beyond } of then?.clients ?? []) note(passed, position, beyond(lead, ms));
  }
  return [...passed.values()];
}

/** How far each live key of an account has read. */
export function readPositions(database: Connection, account: number, nowMs: number): ReadPosition[] {
  const isLive = and(isNull(keys.revokedAt), or(isNull(keys.expiresAt), gt(keys.expiresAt, nowMs)));
  const rows = database
    .select({
      key: keys.id,
      label: keys.label,
      prefix: keys.prefix,
      filter: disclosures.filter,
      upToMs: max(disclosures.newest),
    })
    .from(disclosures)
    .innerJoin(keys, eq(keys.number, disclosures.key))
    .where(and(eq(keys.account, account), gte(disclosures.day, oldestKeptDay(nowMs)), isLive))
    .groupBy(keys.number, disclosures.filter)
    .orderBy(asc(keys.number))
    .all();
  return [...Map.groupBy(rows, ({ key }) => key).values()].flatMap((ofKey) => {
    const [one] = ofKey;
    const upToMs = new Map(ofKey.flatMap(({ filter, upToMs }) => (upToMs === null ? [] : [[filter, upToMs] as const])));
    return one === undefined ? [] : [{ key: one.key, label: one.label, prefix: one.prefix, upToMs }];
  });
}

/** A client that polls. It never sees a lead that comes in later and is older than what it has read. */
function openClient(position: ReadPosition) {
  const reading = [...position.upToMs].map(([filter, ms]) => ({ isFor: readFilter(filter), ms }));
  return {
    position,
    /** How far it has read beyond a lead that it never sees; 0 for any other. */
    beyond: (lead: Lead, ms: number) =>
      Math.max(
        0,
        ...reading
          .filter(({ isFor, ms: upTo }) => ms < upTo && isFor(arrivedLead(lead, 0)))
          .map(({ ms: upTo }) => upTo - ms),
      ),
  };
}

function note(passed: Map<string, Passed>, { key, label, prefix }: ReadPosition, beyondMs: number): void {
  if (beyondMs === 0) return;
  const { late, overlapSeconds } = passed.get(key) ?? { late: 0, overlapSeconds: 0 };
  const seconds = Math.max(overlapSeconds, Math.ceil(beyondMs / 1000));
  passed.set(key, { key, label, prefix, late: late + 1, overlapSeconds: seconds });
}

/** The leads of an import that are older than a moment. */
function* leadsOfBatch(database: Connection, account: number, batch: number, beforeMs: number): Generator<Lead> {
  const oldest = database.select({ ms: imports.oldest }).from(imports).where(eq(imports.number, batch)).get()?.ms;
  for (let fromMs = (oldest ?? beforeMs) - 1; ; ) {
    const rows = database
      .select({ ms: leads.identifiedAt, batch: leads.import, doc: leads.doc })
      .from(leads)
      .where(and(eq(leads.account, account), gt(leads.identifiedAt, fromMs), lt(leads.identifiedAt, beforeMs)))
      .orderBy(asc(leads.identifiedAt))
      .limit(1000)
      .all();
    const last = rows.at(-1);
    if (last === undefined) return;
    for (const row of rows) if (row.batch === batch) yield JSON.parse(row.doc);
    fromMs = last.ms;
  }
}
