/** The position of a lead: its account and its moment in one number, by which the table of leads lies in order. */
import { type SQL, sql } from "drizzle-orm";

/** The years 0001 to 9999 lie between these, in Unix milliseconds; no two accounts have a position in common. */
export const momentBounds = { earliest: -(2 ** 46), afterLatest: 2 ** 48 };
const momentBits = 49;
/** So many accounts have a number that leaves room for the moment. */
export const mostAccounts = 2 ** (63 - momentBits) - 1;

/** Where a lead lies in its table: account and moment in one number, larger than those that JavaScript is exact with. */
export function positionOf(account: SQL, moment: SQL): SQL {
  return sql`(${account} << ${sql.raw(String(momentBits))}) + ${moment}`;
}

const accountOfPosition = `((position + ${-momentBounds.earliest}) >> ${momentBits})`;

/** What a position is made of, in SQL. */
export const ofPosition = {
  account: accountOfPosition,
  identifiedAt: `(position - (${accountOfPosition} << ${momentBits}))`,
};
