/** The upper bound of the comparison: sends the same bytes from memory, and does nothing else. */
import { readFileSync } from "node:fs";

const body = readFileSync(process.env["DATABASE_PATH"] ?? "");
const headers = { "Content-Type": "application/json" };

const { url } = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(body, { headers }) });
process.stdout.write(`listening on ${url.origin}\n`);
