/** The power goes at any moment of a command: what was reported as done is there when it is back. */
import type { Database } from "bun:sqlite";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";
import { isWhole, look, prepareKeys } from "../../product/contents.ts";
import { admin, startServer } from "../../product/program.ts";
import { createDisk, losses } from "./disk.ts";
import { missingRecorder, readStrokes, recorder, type Stroke } from "./strokes.ts";

export const powerCut: Fault = {
  name: "power cut",
  attack:
    "what commands write is recorded and replayed up to a point, of what was not synced chance keeps some; points",
  promise:
    "no key, revocation, subscription, erasure or import that was reported as done is lost, and the file is whole",
  small: 300,
  full: 10_000,
  breakages: [
    broken("synchronous = NORMAL", "src/db/open.ts", "PRAGMA synchronous = FULL", "PRAGMA synchronous = NORMAL", {
      times: 200,
    }),
    {
      name: "an import that is not put on the disk",
      times: 200,
      patches: [
        { file: "src/import/write/transactions.ts", from: "await onDisk(database, log.fsync());", to: "" },
        // Copying the log and closing the connection put it on the disk in time to hide it.
        { file: "src/import/write/transactions.ts", from: "\n    copyWal(database);", to: "" },
        {
          file: "src/import/write/import.ts",
          from: "close: () => connection.$client.close(),",
          to: "close: () => undefined,",
        },
      ],
    },
  ],
  missing: missingRecorder,
  run,
};

/** The promise of a command, and its check. */
interface Promised {
  readonly what: string;
  readonly args: readonly string[];
  readonly isKept: (database: Database, said: string) => boolean;
}

/** A promise that was made, after so many strokes. */
interface Made extends Promised {
  readonly said: string;
  readonly afterStrokes: number;
}

async function run({ build, folder, times, random, goesOn, progress, expect }: Attack): Promise<Figures> {
  const base = join(folder, "base.db");
  const export_ = join(folder, "export.csv");
  const rows = Math.min(2000, 100 + Math.floor(times / 5));
  writeFileSync(
    export_,
    `date,email,city\n${Array.from({ length: rows }, (_, n) => `2026-01-31,d${n}@example.com,City ${n % 90}`).join("\n")}\n`,
  );
  const [key] = prepareKeys(base, 0);
  let points = 0;
  let strokesSeen = 0;
  // Alone, a command folds its log into the file when it ends; beside a server the log stays and goes on.
  for (const beside of [false, true]) {
    const file = join(folder, beside ? "beside.db" : "alone.db");
    copyFileSync(base, file);
    const before = readFileSync(file);
    const server = beside ? await startServer(build, file) : null;
    const { strokes, made } = await record(build, file, promises(key.id, export_, rows));
    await server?.end("SIGKILL");
    strokesSeen += strokes.length;
    // A quarter of them come the moment something was promised: nothing that follows has put it on the disk by chance.
    const cuts = Array.from({ length: times / 2 }, () =>
      random.below(4) === 0 ? (made[random.below(made.length)]?.afterStrokes ?? 0) : random.below(strokes.length + 1),
    ).toSorted((a, b) => a - b);
    const disk = createDisk(new Map([[file, before]]));
    let done = 0;
    for (const cut of cuts) {
      if (!goesOn()) break;
      for (const stroke of strokes.slice(done, cut)) disk.apply(stroke);
      done = cut;
      const loss = random.pick(losses);
      const kept = made.filter(({ afterStrokes }) => afterStrokes <= cut);
      inspect(disk.cut(random, loss), file, kept, `cut at stroke ${cut} of ${strokes.length}, lost ${loss}`, expect);
      progress(++points);
    }
  }
  return { strokes: strokesSeen, "rows of an import": rows };
}

const promises = (keyId: string, file: string, rows: number): readonly Promised[] => [
  {
    what: "a key",
    args: ["key", "create", "acme", "--json"],
    isKept: (database, said) => count(database, "FROM keys WHERE id = ?", JSON.parse(said).id) === 1,
  },
  {
    what: "an import",
    args: ["lead", "import", "acme", file, "--pixel", "px", "--create-pixels", "--json"],
    isKept: (database) => count(database, "FROM stored_leads WHERE json_valid(doc)") >= rows - 1,
  },
  {
    what: "an erasure",
    args: ["lead", "erase", "acme", "--email", "d1@example.com", "--json"],
    isKept: (database) => count(database, "FROM stored_leads WHERE doc LIKE '%\"d1@example.com\"%'") === 0,
  },
  {
    what: "a revocation",
    args: ["key", "revoke", keyId, "--json"],
    isKept: (database) => count(database, "FROM keys WHERE id = ? AND revoked_at IS NOT NULL", keyId) === 1,
  },
  {
    what: "the end of a subscription",
    args: ["account", "deactivate", "acme", "--json"],
    isKept: (database) => count(database, "FROM accounts WHERE active = 0") === 1,
  },
];

function count(database: Database, where: string, ...values: string[]): number {
  return database.query<{ found: number }, string[]>(`SELECT count(*) AS found ${where}`).get(...values)?.found ?? 0;
}

async function record(build: string, file: string, promised: readonly Promised[]) {
  const strokes: Stroke[] = [];
  const made: Made[] = [];
  const trace = `${file}.trace`;
  const names = new Set(["", "-wal", "-journal"].map((suffix) => file + suffix)).add(dirname(file));
  for (const promise of promised) {
    const { status, stdout, stderr } = await admin(build, file, promise.args, { before: recorder(trace) });
    if (status !== 0) throw new Error(`${promise.what} ended with ${status}: ${stderr}`);
    const done = readStrokes(trace, (path) => names.has(path));
    const afterStrokes = strokes.length + done.findIndex(({ kind }) => kind === "said") + 1;
    made.push({ ...promise, said: stdout, afterStrokes });
    strokes.push(...done);
  }
  return { strokes, made };
}

/** Puts the files where nothing else is, opens them as the next start would, and looks. */
function inspect(
  found: ReadonlyMap<string, Buffer>,
  file: string,
  made: readonly Made[],
  when: string,
  expect: Attack["expect"],
): void {
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "leadfile-cut-"));
  try {
    for (const [path, bytes] of found) writeFileSync(join(folder, basename(path)), bytes);
    look(join(folder, basename(file)), (database) => {
      expect(isWhole(database), () => `${when}: the file is damaged`);
      for (const promise of made) {
        expect(promise.isKept(database, promise.said), () => `${when}: ${promise.what} is lost`);
      }
    });
  } catch (cause) {
    expect(false, () => `${when}: ${cause instanceof Error ? cause.message : "the file cannot be read"}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
