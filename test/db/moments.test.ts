/** A lead lies in its account at its moment, up to the ends of all years. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import fc from "fast-check";
import { earliestMs } from "../../src/contract/calendar.ts";
import { createAccount } from "../../src/db/accounts.ts";
import type { Connection } from "../../src/db/connection.ts";
import { openLeads } from "../../src/db/leads.ts";
import { databaseOn, openDatabase } from "../../src/db/open.ts";
import { accounts, leads } from "../../src/db/schema.ts";
import { writeLeads } from "../../src/import/write/lead-writer.ts";
import { aLead, newLead, noonMs } from "../support/builders.ts";
import { aFolder } from "../support/folder.ts";

const latestMs = Date.parse("9999-12-31T23:59:59.999Z");
const numbers = [1, 2, 3, 2 ** 31, Number.MAX_SAFE_INTEGER];
let database: Connection;

beforeAll(async () => {
  database = openDatabase(join(aFolder(), "leadfile.db"));
  for (const number of numbers) await renumber(number);
});
afterAll(() => database.$client.close());

/** Makes an account and gives it a number, as if so many had been made before. */
async function renumber(number: number): Promise<void> {
  const made = await createAccount(databaseOn(database), `Account ${number}`, noonMs);
  if (made === null) throw new Error("the name of an account was taken");
  database.update(accounts).set({ number }).where(eq(accounts.number, made.number)).run();
}

const moment = fc.oneof(
  fc.constantFrom(earliestMs, earliestMs + 1, -1, 0, latestMs - 1, latestMs),
  fc.integer({ min: earliestMs, max: latestMs }),
);
const stored = fc.record({ account: fc.constantFrom(...numbers), ms: moment });

test("a lead is found in its account at its moment, and nowhere else, whatever bounds are asked for", () => {
  const several = fc.uniqueArray(stored, { selector: ({ account, ms }) => `${account} ${ms}`, maxLength: 30 });
  const bound = fc.option(moment);
  fc.assert(
    fc.property(several, bound, bound, fc.boolean(), (all, sinceMs, beforeMs, filtered) => {
      database.delete(leads).run();
      for (const { account, ms } of all) {
        const lead = newLead(aLead({ identified_at: new Date(ms).toISOString() }));
        writeLeads(database, account, [lead], { onDuplicate: "skip", createPixels: true, nowMs: noonMs });
      }
      for (const account of numbers) {
        const state = filtered ? "CA" : null;
        const query = { limit: 100, sinceMs, beforeMs, pixelId: null, state, city: null, hasEmail: false };
        const { documents } = openLeads(database).page(account, query);
        const found = documents.map((document) =>
          Date.parse(JSON.parse(Buffer.from(document).toString()).identified_at),
        );
        const own = all.filter((lead) => lead.account === account).map(({ ms }) => ms);
        const within = own.filter((ms) => ms >= (sinceMs ?? earliestMs) && ms < (beforeMs ?? latestMs + 1));
        expect(found).toEqual(within.toSorted((a, b) => b - a));
      }
    }),
    { numRuns: 60 },
  );
});
