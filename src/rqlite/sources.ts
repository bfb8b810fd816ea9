/** Sources of a cluster: read from the file of the own node, written through the leader. */
import { and, eq, isNull, sql } from "drizzle-orm";
import { randomText } from "../contract/random-text.ts";
import { sources } from "../sqlite/schema.ts";
import { openSources } from "../sqlite/sources.ts";
import type { SourceRepository } from "../store/sources.ts";
import type { LocalFile } from "./local-file.ts";
import { statementOf } from "./node/statement.ts";
import { auditOfAccount, auditStatement } from "./repositories.ts";
import type { Writer } from "./writer.ts";

/** `finder` answers from the file for as long as the node hears of revocations. */
export function openClusterSources(
  file: LocalFile,
  writer: Writer,
  finder: SourceRepository["finder"],
): SourceRepository {
  const stored = () => openSources(file.current());
  return {
    create(account, { digest, prefix, label, options }, nowMs) {
      const id = `src_${randomText(12)}`;
      writer.commit([
        statementOf(sql`INSERT INTO ${sources} (account, id, digest, prefix, label, options, created_at)
                        VALUES (${account}, ${id}, ${digest}, ${prefix}, ${label}, ${JSON.stringify(options)}, ${nowMs})`),
        auditOfAccount(account, { atMs: nowMs, act: "source.create", detail: { source: id } }),
      ]);
      const made = stored().find(id);
      if (made === null) throw new Error("a source that was just made is not there");
      return made;
    },
    list: (account) => stored().list(account),
    find: (id) => stored().find(id),
    revoke(id, nowMs) {
      const source = stored().find(id);
      if (source === null) return null;
      const live = and(eq(sources.id, id), isNull(sources.revokedAt));
      writer.commitEverywhere([
        statementOf(sql`UPDATE ${sources} SET revoked_at = ${nowMs} WHERE ${live}`),
        auditStatement({ atMs: nowMs, act: "source.revoke", account: source.account, detail: { source: id } }),
      ]);
      return stored().find(id);
    },
    finder,
  };
}
