/** Accounts: whose leads, pixels and keys there are, and whether they have an active subscription (§3). */
import { asc, eq, or } from "drizzle-orm";
import { randomText } from "../contract/random-text.ts";
import type { Account, AccountRepository } from "../store/repositories.ts";
import { recordAct } from "./audit.ts";
import type { Connection } from "./connection.ts";
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
      const account = { id, name, active: true, createdAt: nowMs };
      database.insert(accounts).values(account).onConflictDoNothing({ target: accounts.name }).run();
      return find(id);
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
