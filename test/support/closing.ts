/** Databases that are closed as the end of a process closes them: one whose statements live on stays open otherwise. */
import { Database, type Statement } from "bun:sqlite";

/** Looks which databases are used from now on; the function that it gives closes them all. */
export function watchDatabases(): () => void {
  const { prepare } = Database.prototype;
  const open = new Map<Database, Statement[]>();
  function watched(this: Database, ...asked: Parameters<typeof prepare>) {
    const statement = prepare.apply(this, asked);
    const statements = open.get(this) ?? [];
    statements.push(statement);
    open.set(this, statements);
    return statement;
  }
  Database.prototype.prepare = watched as typeof prepare; // Whatever a statement gives, it gives through the same object.
  return () => {
    Database.prototype.prepare = prepare;
    for (const [database, statements] of open) {
      for (const statement of statements) statement.finalize();
      database.close();
    }
  };
}
