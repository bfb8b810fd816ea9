/** Many leads in a file, where they are the setup of a test: their import would take ten times as long. */
import { Database } from "bun:sqlite";
import type { Admin } from "./admin.ts";

/** Copies the only lead that has the email address d0@example.com: d1@example.com is a millisecond newer, and so on. */
export function copyLead({ file }: Pick<Admin, "file">, copies: number, pageUrl: string | null = null): void {
  using database = new Database(file);
  const { changes } = database.run(
    `WITH RECURSIVE copies (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM copies WHERE n < ?)
     INSERT INTO stored_leads (account, identified_at, uuid, pixel, state, city_key, has_email, import, doc)
     SELECT account, identified_at + n, unhex(printf('00000000000080008000%012x', n)), pixel, state, city_key, has_email,
       import, json_set(doc, '$.id', printf('00000000-0000-8000-8000-%012x', n), '$.identified_at',
         strftime('%Y-%m-%dT%H:%M:%fZ', (identified_at + n) / 1000.0, 'unixepoch'),
         '$.email', 'd' || n || '@example.com', '$.page_url', ?)
     FROM stored_leads, copies WHERE doc LIKE '%"d0@example.com"%'`,
    [copies, pageUrl],
  );
  if (changes !== copies) throw new Error(`${changes} leads were added, not ${copies}`);
}
