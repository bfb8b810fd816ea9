/** Reads all leads of an account as bytes, with little memory. */
import { and, asc, eq, gte, sql } from "drizzle-orm";
import { earliestMs } from "../../contract/calendar.ts";
import type { Lead } from "../../contract/lead.ts";
import type { Connection } from "../../db/connection.ts";
import { placeholder } from "../../db/placeholder.ts";
import { leads } from "../../db/schema.ts";
import { collectingGarbage } from "../garbage-collection.ts";
import { viewOf } from "./forms.ts";

/** A stored lead: its moment and its document. */
export type Row = readonly [ms: number, doc: Uint8Array];

/** Called after each group of leads with how many were read until then. */
export type OnRead = (leads: number) => void;

/** The lead of a document. */
export function readLead(doc: Uint8Array): Lead {
  return JSON.parse(viewOf(doc).toString());
}

const leadsAtOnce = 1000;
const leadsUntilCollected = 10_000;
const newline = 0x0a;

/** All leads of an account, oldest first, in groups: a short read does not keep the log from being cut. */
export function leadsOf(database: Connection, account: number, onRead: OnRead): Generator<Row> {
  return collectingGarbage(readLeads(database, account, onRead), leadsUntilCollected);
}

function* readLeads(database: Connection, account: number, onRead: OnRead): Generator<Row> {
  const some = database
    .select({ ms: leads.identifiedAt, doc: leads.doc })
    .from(leads)
    .where(and(eq(leads.account, placeholder.integer("account")), gte(leads.identifiedAt, placeholder.integer("from"))))
    .orderBy(asc(leads.identifiedAt))
    .limit(leadsAtOnce)
    .as("some");
  // The bytes come in one piece. A thousand pieces would fill the memory before they are collected.
  const group = database
    .select({
      moments: sql<string>`json_group_array(${some.ms})`,
      docs: sql<Uint8Array>`CAST(group_concat(${some.doc}, char(${newline})) AS BLOB)`,
    })
    .from(some)
    .prepare();
  let read = 0;
  for (let from = earliestMs; ; ) {
    const [row] = group.values({ account, from });
    const moments: number[] = row === undefined ? [] : JSON.parse(row[0]);
    const last = moments.at(-1);
    if (row === undefined || last === undefined) return;
    yield* parted(moments, row[1]);
    onRead((read += moments.length));
    from = last + 1;
  }
}

/** Documents are separated by line breaks, of which JSON itself has none. */
function* parted(moments: readonly number[], docs: Uint8Array): Generator<Row> {
  let begin = 0;
  for (const ms of moments) {
    const end = docs.indexOf(newline, begin);
    yield [ms, docs.subarray(begin, end === -1 ? docs.length : end)];
    begin = end + 1;
  }
}
