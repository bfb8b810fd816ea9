/** A file whose server has a clock that jumps: acts in any order, and a count of the leads that went before their time. */
import { join } from "node:path";
import { dayMs } from "../../src/contract/calendar.ts";
import { insertAct } from "../../src/db/audit.ts";
import { leads } from "../../src/db/schema.ts";
import { applyRetention, setRetention } from "../../src/privacy/retention.ts";
import { aLead, newLead, noonMs } from "../support/builders.ts";
import { anAccount, importLeads, openTestDatabase } from "../support/database.ts";

/** The retention of the account. */
const days = 30;

/** The acts: time passes, the clock jumps ahead or is set right, and a person, an import, or the server does something. */
export const clockActs = [
  "pass",
  "pass",
  "pass",
  "ahead",
  "right",
  "act",
  "lead",
  "arrival",
  "arrival",
  "arrival",
  "apply",
  "apply",
] as const;

/** Begins a history in a folder. */
export async function startClockHistory(place: string) {
  const database = openTestDatabase(join(place, "leadfile.db"));
  const account = anAccount(database);
  await setRetention(database, account, days, noonMs);
  let [trueMs, aheadMs, number] = [noonMs, 0, 0];
  const counts = { lost: 0, erased: 0, waits: 0 };
  const young = () => {
    const all = database.read.select({ ms: leads.identifiedAt }).from(leads).all();
    return all.filter(({ ms }) => ms >= trueMs - days * dayMs).length;
  };
  const addLead = (atMs: number) => {
    const at = new Date(atMs - ++number).toISOString();
    importLeads(database, account.number, [newLead(aLead({ identified_at: at }))], { nowMs: trueMs });
  };
  const apply = async () => {
    const before = young();
    const { erased, waiting } = await applyRetention(database, trueMs + aheadMs);
    counts.lost += before - young();
    counts.erased += erased;
    counts.waits += waiting.length;
  };
  const record = () =>
    insertAct(database.read, { act: "key.create", account: null, detail: {}, atMs: trueMs + aheadMs }).run();
  const acts: Readonly<Record<(typeof clockActs)[number], (x: number) => unknown>> = {
    pass: (x) => (trueMs += (1 + (x % 20)) * dayMs),
    ahead: (x) => (aheadMs = (60 + (x % 500)) * dayMs),
    right: () => (aheadMs = 0),
    act: record,
    lead: (x) => addLead(trueMs - (x % 40) * dayMs),
    // A delivery without a time gets that of the clock.
    arrival: () => addLead(trueMs + aheadMs),
    apply,
  };
  return {
    counts,
    act: async (kind: (typeof clockActs)[number], x: number) => void (await acts[kind](x)),
    close: () => database.close(),
  };
}
