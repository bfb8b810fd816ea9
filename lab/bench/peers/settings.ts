/** The settings of a peer: the database, and the limit of a key. */
export const databasePath = process.env["DATABASE_PATH"] ?? "peers.db";
export const limitPerMin = Number(process.env["RATE_LIMIT_PER_MIN"] ?? 60);

/** The line that the bench waits for. */
export function announce(port: number | undefined): void {
  process.stdout.write(`listening on http://127.0.0.1:${port}\n`);
}
