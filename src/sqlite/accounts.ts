/** Accounts: whose leads, pixels and keys there are, and whether they have an active subscription (§3). */
import { asc, eq, or, sql } from "drizzle-orm";
import { randomText } from "../contract/random-text.ts";
import { StoreError } from "../store/errors.ts";
import type { Account, AccountRepository } from "../store/repositories.ts";
import { recordAct } from "./audit.ts";
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
  function find(idOrName: string): Account | null {
    const either = or(eq(accounts.id, idOrName), eq(accounts.name, idOrName));
    return database.select(columns).from(accounts).where(either).get() ?? null;
  }

  return {
    create(name, nowMs) {
      const id = `acc_${randomText(16)}`;
      const row = sql`SELECT ${id}, ${name}, 1, ${nowMs} WHERE (SELECT ifnull(max(number), 0) FROM ${accounts}) < ${mostAccounts}`;
      database.run(sql`INSERT INTO ${accounts} (id, name, active, created_at) ${row} ON CONFLICT (name) DO NOTHING`);
      const made = find(id);
      if (made !== null || find(name) !== null) return made;
      throw new StoreError({ kind: "too many accounts", most: mostAccounts });
    },
    list: (): Account[] => database.select(columns).from(accounts).orderBy(asc(accounts.number)).all(),
    find,
    setActive(number, active, nowMs) {
      const is = eq(accounts.number, number);
      const set = () => {
        const account = database.select({ id: accounts.id }).from(accounts).where(is).get()?.id ?? null;
        database.update(accounts).set({ active }).where(is).run();
        const act = active ? "account.activate" : "account.deactivate";
        recordAct(database, { atMs: nowMs, act, account, detail: {} });
      };
      database.transaction(set, { behavior: "immediate" });
    },
  };
}
