/** Accounts: whose leads, pixels and keys there are, and whether they have an active subscription (§3). */
import { asc, eq, or } from "drizzle-orm";
import { randomText } from "../contract/random-text.ts";
import { StoreError } from "../store/errors.ts";
import type { Account, AccountRepository } from "../store/repositories.ts";
import type { Connection } from "./connection.ts";
import { mostAccounts } from "./position.ts";
import { accounts } from "./schema.ts";

const columns = {
  number: accounts.number,
  id: accounts.id,
  name: accounts.name,
  active: accounts.active,
  retainDays: accounts.retainDays,
};

export function openAccounts(database: Connection): AccountRepository {
  return {
    create(name, nowMs) {
      const make = (transaction: Pick<Connection, "insert">) => {
        const made = transaction
          .insert(accounts)
          .values({ id: `acc_${randomText(16)}`, name, active: true, createdAt: nowMs })
          .onConflictDoNothing({ target: accounts.name })
          .returning(columns)
          .get();
        if (made !== undefined && made.number > mostAccounts) {
          throw new StoreError({ kind: "too many accounts", most: mostAccounts });
        }
        return made ?? null;
      };
      return database.transaction(make, { behavior: "immediate" });
    },
    list: (): Account[] => database.select(columns).from(accounts).orderBy(asc(accounts.number)).all(),
    find(idOrName) {
      const either = or(eq(accounts.id, idOrName), eq(accounts.name, idOrName));
      return database.select(columns).from(accounts).where(either).get() ?? null;
    },
    setActive(account, active) {
      database.update(accounts).set({ active }).where(eq(accounts.number, account)).run();
    },
  };
}
