/** An example as a reader runs it: a process of its own against a real server, and the leads that arrived. */
import { Database } from "bun:sqlite";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { endWithTest } from "../support/child.ts";

const examples = join(import.meta.dir, "../../examples");

/** Runs one in a folder, with nothing in its environment but what it is given. */
export function runExample(
  name: string,
  args: readonly string[],
  folder: string,
  settings: Readonly<Record<string, string>>,
) {
  const child = Bun.spawn([name.endsWith(".py") ? "python3" : process.execPath, join(examples, name), ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? folder, ...settings },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  endWithTest(child);
  let said = "";
  const errors = Array.fromAsync(child.stderr.pipeThrough(new TextDecoderStream()), (text) => {
    said += text;
  }).then(() => said);
  return {
    errors,
    /** Returns what it has printed on standard error so far. */
    said: () => said,
    /** Ends it as a user does, and returns its status. */
    stop() {
      child.kill("SIGINT");
      return child.exited;
    },
    /** Ends it like a power cut. */
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

const idOf = ({ id }: { id: string }) => id;

/** For each example that writes a file, the IDs of the leads in it, in their order. */
export const arrived: Readonly<Record<string, (path: string) => string[]>> = {
  "leads-to-csv.ts": ifReadable((path) => {
    const text = readFileSync(path, "utf8");
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    return (parse(whole, { columns: true }) as { id: string }[]).map(idOf); // The header names the column.
  }),
  "leads-to-sqlite.ts": ifReadable((path) => {
    using db = new Database(path, { readonly: true });
    return db.query<{ id: string }, []>("SELECT id FROM leads ORDER BY identified_at").all().map(idOf);
  }),
  "leads_to_ndjson.py": ifReadable((path) => {
    const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => idOf(JSON.parse(line)));
  }),
};

/** Reads nothing from a file that is absent, or whose table or last row is not complete yet. */
function ifReadable(read: (path: string) => string[]) {
  return (path: string): string[] => {
    try {
      return existsSync(path) ? read(path) : [];
    } catch {
      return [];
    }
  };
}
