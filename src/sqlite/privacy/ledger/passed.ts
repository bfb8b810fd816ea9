/** How far clients have read, and which late leads they have passed. */
import { and, asc, eq, gt, isNull, lt, max, or } from "drizzle-orm";
import type { Lead } from "../../../contract/lead.ts";
import { readFilter } from "../../../store/disclosed-pages.ts";
import type { Passed, ReadPosition, RecipientRepository } from "../../../store/disclosures.ts";
import type { AccountNumber } from "../../../store/reading.ts";
import type { Connection } from "../../connection.ts";
import { disclosures, imports, keys, leads } from "../../schema.ts";

export function openRecipientRepository(database: Connection): RecipientRepository {
  return {
    positions: (account, nowMs) => readPositions(database, account, nowMs),
    passed(account, batch, positions) {
      const newest = Math.max(...positions.flatMap(({ upToMs }) => [...upToMs.values()]));
      const clients = positions.map(openClient);
      if (clients.length === 0) return [];
      for (const lead of leadsOfBatch(database, account, batch, newest)) for (const client of clients) client.see(lead);
      return clients.flatMap(({ passed }) => passed());
    },
  };
}

function readPositions(database: Connection, account: AccountNumber, nowMs: number): ReadPosition[] {
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
    .where(and(eq(keys.account, account), isLive))
    .groupBy(keys.number, disclosures.filter)
    .orderBy(asc(keys.number))
    .all();
  return [...Map.groupBy(rows, ({ key }) => key).values()].flatMap((ofKey) => {
    const [one] = ofKey;
    const upToMs = new Map(ofKey.flatMap(({ filter, upToMs }) => (upToMs === null ? [] : [[filter, upToMs] as const])));
    return one === undefined ? [] : [{ key: one.key, label: one.label, prefix: one.prefix, upToMs }];
  });
}

/** A client that polls. It never sees a lead that comes in behind the place up to which it has read. */
function openClient({ key, label, prefix, upToMs }: ReadPosition) {
  const reading = [...upToMs].map(([filter, ms]) => ({ isFor: readFilter(filter), ms }));
  let late = 0;
  let overlapMs = 0;
  return {
    see(lead: Lead): void {
      const ms = Date.parse(lead.identified_at);
      const behind = reading.filter(({ isFor, ms: upTo }) => ms < upTo && isFor(lead)).map(({ ms: upTo }) => upTo - ms);
      if (behind.length === 0) return;
      late++;
      overlapMs = Math.max(overlapMs, ...behind);
    },
    passed: (): Passed[] =>
      late === 0 ? [] : [{ key, label, prefix, late, overlapSeconds: Math.ceil(overlapMs / 1000) }],
  };
}

/** The leads of an import that are older than a moment. */
function* leadsOfBatch(database: Connection, account: AccountNumber, batch: number, beforeMs: number): Generator<Lead> {
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
