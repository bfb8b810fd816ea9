/** A file whose leads a client has read, and the recorded writes of commands that change it one after the other. */
import type { Database } from "bun:sqlite";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { aLead, linesOf } from "../../../../test/support/builders.ts";
import { finish } from "../../../../test/support/process.ts";
import { betweenTransactions } from "../../../../test/support/write-lock.ts";
import type { Random } from "../../../random.ts";
import { ask, readPages } from "../../product/client.ts";
import { documentsOf, look, prepareKeys } from "../../product/contents.ts";
import { admin, startAdmin, startServer } from "../../product/program.ts";
import { type Operation, readOperations, recorder } from "./operations.ts";

/** What a command can have reported as done. */
export interface State {
  /** Oldest first. */
  readonly leads: readonly string[];
  /** Keys, subscriptions, pixels, and blocks. */
  readonly others: readonly string[];
}

export interface Step {
  readonly what: string;
  readonly args: readonly string[];
  /** The number of recorded operations when it had reported success, and at its end. */
  readonly reported: number;
  readonly ended: number;
  readonly before: State;
  readonly after: State;
}

export interface Recording {
  /** The path of the file, and its content before the first operation. */
  readonly file: string;
  readonly content: Buffer;
  readonly operations: readonly Operation[];
  readonly steps: readonly Step[];
}

const persons = 400;
const rows = 2_500;
/** Half of the persons share it. */
const phone = "15550142000";
/** Times within so many milliseconds: few make many ties. */
const spansMs = [3_000_000, 50, 3_000] as const;

/** Creates a file with the leads of persons, which a key has read. Returns the ID of the key. */
export async function prepareRead(build: string, file: string): Promise<string> {
  const leads = Array.from({ length: persons }, (_, n) =>
    aLead({ email: `person${n}@example.com`, phone: n % 2 === 0 ? phone : null }),
  );
  const [{ id, secret }] = prepareKeys(file, 0);
  await admin(build, file, ["lead", "import", "acme", "-", "--create-pixels"], { input: linesOf(leads) });
  const server = await startServer(build, file);
  await readPages("limit=100", (target) => ask(server.url, secret, target));
  await server.end();
  // It is copied without its log.
  look(file, (database) => database.run("PRAGMA wal_checkpoint(TRUNCATE)"));
  return id;
}

/**
 * Records commands on a copy of a file. A command that runs alone copies its log into the file when it ends. Next to a
 * server, the log stays, and another writer makes a long command commit after each of its steps.
 */
export async function record(build: string, base: string, keyId: string, isServed: boolean, random: Random) {
  const file = join(dirname(base), isServed ? "served.db" : "alone.db");
  copyFileSync(base, file);
  const server = isServed ? await startServer(build, file) : null;
  // A server writes at its start, and only the writes of commands are recorded: its own are copied into the file first.
  look(file, (database) => database.run("PRAGMA wal_checkpoint(TRUNCATE)"));
  const content = readFileSync(file);
  const names = new Set(["", "-wal", "-journal"].map((suffix) => file + suffix)).add(dirname(file));
  const operations: Operation[] = [];
  const steps: Step[] = [];
  for (const { what, args } of commandsOn(dirname(base), keyId, random)) {
    const before = look(file, stateOf);
    const child = startAdmin(build, file, [...args, "--json"], { before: recorder(`${file}.trace`) });
    if (isServed) for await (const _ of betweenTransactions(file, child.exited));
    const { status, stderr } = await finish(child);
    if (status !== 0) throw new Error(`${what} ended with ${status}: ${stderr}`);
    const done = readOperations(`${file}.trace`, (path) => names.has(path));
    const reported = operations.length + done.findIndex(({ kind }) => kind === "said") + 1;
    operations.push(...done);
    steps.push({ what, args, reported, ended: operations.length, before, after: look(file, stateOf) });
  }
  await server?.end("SIGKILL");
  return { file, content, operations, steps } satisfies Recording;
}

function commandsOn(folder: string, keyId: string, random: Random) {
  const [source, list] = [join(folder, "export.csv"), join(folder, "list.txt")];
  const spanMs = random.pick(spansMs);
  const lines = Array.from({ length: rows }, (_, row) => {
    const ms = Date.parse("2026-01-31T10:15:00Z") + random.below(spanMs);
    return `${new Date(ms).toISOString()},d${row}@example.com\n`;
  });
  writeFileSync(source, `identified_at,email\n${lines.join("")}`);
  // Those with a phone are the other half.
  writeFileSync(list, Array.from({ length: persons / 2 }, (_, n) => `person${2 * n + 1}@example.com`).join("\n"));
  return [
    { what: "a key", args: ["key", "create", "acme"] },
    { what: "an import", args: ["lead", "import", "acme", source, "--pixel", "px", "--create-pixels"] },
    { what: "an erasure by a list", args: ["lead", "erase", "acme", "--list", list] },
    { what: "an erasure by a phone", args: ["lead", "erase", "acme", "--phone", phone] },
    { what: "a revocation", args: ["key", "revoke", keyId] },
    { what: "the end of a subscription", args: ["account", "deactivate", "acme"] },
  ];
}

/** Reads what commands change. */
export function stateOf(database: Database): State {
  const others = database.query<{ line: string }, []>(`
    SELECT id || ' revoked: ' || (revoked_at IS NOT NULL) AS line FROM keys
    UNION ALL SELECT name || ' active: ' || active FROM accounts
    UNION ALL SELECT id FROM pixels UNION ALL SELECT hex(hash) FROM suppressions`);
  return { leads: documentsOf(database), others: others.all().map(({ line }) => line) };
}
