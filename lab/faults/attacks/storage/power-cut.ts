/** A command ends at any point of its writes, by a kill or a power cut: nothing that it reported is lost. */
import { Database } from "bun:sqlite";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type CommandProcess, startCommands } from "../../../../test/support/command-process.ts";
import type { Random } from "../../../random.ts";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";
import { isWhole, look } from "../../product/contents.ts";
import { surroundings } from "../../product/program.ts";
import { createDisk, losses } from "./disk.ts";
import { missingRecorder } from "./operations.ts";
import { prepareRead, type Recording, record, type State, type Step, stateOf } from "./recording.ts";

/** One of so many points that are not within a change is also examined with further commands. */
const examinedEvery = 8;

export const powerCut: Fault = {
  name: "kill -9 and power cut",
  attack:
    "what commands write, alone or next to a server, is recorded and replayed up to a point; of what was not synced, chance keeps all (a kill), some, or nothing; points",
  promise:
    "the file is whole, what was reported as done is there, leads arrive oldest first, each erased lead has a complete receipt, a backup has the same leads, and the next run completes the command",
  small: 160,
  full: 10_000,
  breakages: [
    broken("synchronous = NORMAL", "src/db/open.ts", "PRAGMA synchronous = FULL", "PRAGMA synchronous = NORMAL", {
      isSlow: true,
      times: 200,
    }),
    {
      name: "an import that is not put on the disk",
      times: 200,
      patches: [
        { file: "src/db/transactions.ts", from: "await onDisk(database, log.fsync());", to: "" },
        // Copying the log and closing the connection put it on the disk in time to hide it.
        { file: "src/db/transactions.ts", from: "\n    copyWal(database);", to: "" },
        {
          file: "src/import/write/import.ts",
          from: "close: () => connection.$client.close(),",
          to: "close: () => undefined,",
        },
      ],
    },
    broken(
      "an import that stumbles over what is in already",
      "src/import/write/import-record.ts",
      "  record.counts[outcome.kind",
      "  if (outcome.kind === 'duplicate') throw new Error('twice');\n  record.counts[outcome.kind",
    ),
    broken(
      "an import that begins with the newest lead",
      "src/import/write/staging.ts",
      "ORDER BY at IS NULL, at, position",
      "ORDER BY at IS NULL, at DESC, position",
      { isSlow: true },
    ),
    broken(
      "a backup of the file without its log",
      "src/backup/backup.ts",
      "  const manifest = await describe(file, nowMs);\n",
      '  require("node:fs").copyFileSync(database.$client.filename, file);\n  const manifest = await describe(file, nowMs);\n',
      { isSlow: true },
    ),
    broken(
      "recipients that only the erasure itself adds to its receipts",
      "src/privacy/receipts.ts",
      "yield* withRecipients(database.read, rows)",
      "yield* rows",
      { isSlow: true },
    ),
  ],
  missing: missingRecorder,
  run,
};

async function run({ build, file, times, random, goesOn, progress, expect }: Attack): Promise<Figures> {
  const keyId = await prepareRead(build, file);
  const commands = startCommands(build);
  const figures = { operations: 0, "points within a change": 0 };
  let points = 0;
  for (const isServed of [false, true]) {
    if (!goesOn()) break;
    const recording = await record(build, file, keyId, isServed, random);
    figures.operations += recording.operations.length;
    for (const { files, when, ...cut } of replay(recording, Math.ceil(times / 2), random)) {
      if (!goesOn()) break;
      const said = `${isServed ? "served" : "alone"}, ${when}, during ${cut.step.what}`;
      const point = {
        ...cut,
        keyId,
        expect: (holds: boolean, what: string) => expect(holds, () => `${said}: ${what}`),
      };
      if (await visit(point, files, commands)) figures["points within a change"]++;
      progress(++points);
    }
  }
  await commands.end();
  return figures;
}

/** A point at which a command ended. */
interface Point {
  readonly number: number;
  readonly keyId: string;
  /** The leads that the key has read. */
  readonly read: readonly string[];
  /** The command that was under way, and whether it had reported success. */
  readonly step: Step;
  readonly isReported: boolean;
  expect(this: void, holds: boolean, otherwise: string): void;
}

/** Replays operations up to random points, and yields the files that are found then, by the endings of their names. */
function* replay({ file, content, operations, steps }: Recording, points: number, random: Random) {
  // A quarter of them come the moment something was reported: nothing that follows has put it on the disk by chance.
  const reports = steps.map(({ reported }) => reported);
  const aCut = () => (random.below(4) === 0 ? reports[random.below(reports.length)] : random.below(operations.length));
  const cuts = Array.from({ length: points }, () => aCut() ?? 0).toSorted((one, other) => one - other);
  const disk = createDisk(new Map([[file, content]]));
  const read = steps[0]?.before.leads ?? [];
  let done = 0;
  for (const [number, cut] of cuts.entries()) {
    for (const operation of operations.slice(done, cut)) disk.apply(operation);
    done = cut;
    const step = steps.find(({ ended }) => cut < ended);
    if (step === undefined) return;
    const loss = random.pick(losses);
    const files = [...disk.cut(random, loss)].map(([path, bytes]) => [path.slice(file.length), bytes] as const);
    const when = `cut at operation ${cut} of ${operations.length}, lost ${loss}`;
    yield { number, step, isReported: cut >= step.reported, read, files, when };
  }
}

/** Looks at the files of a point. Returns true if the command was within its change. */
async function visit(
  point: Point,
  files: readonly (readonly [ending: string, bytes: Buffer])[],
  commands: CommandProcess,
) {
  const place = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "leadfile-cut-"));
  const file = join(place, "leadfile.db");
  try {
    for (const [ending, bytes] of files) writeFileSync(file + ending, bytes);
    // Another program has the file open, so that the log is not copied into the file as soon as somebody has read it.
    using other = new Database(file);
    other.run("SELECT count(*) FROM sqlite_schema");
    const state = inspect(point, file);
    const isWithin = isDifferent(state, point.step.before) && isDifferent(state, point.step.after);
    if (isWithin || point.number % examinedEvery === 0) await examine(point, file, state, commands);
    return isWithin;
  } catch (cause) {
    point.expect(false, String(cause));
    return false;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Opens the file as the next start would, and compares it with the states before and after the command. */
function inspect({ step, isReported, expect }: Point, file: string): State {
  const { before, after } = step;
  return look(file, (database) => {
    expect(isWhole(database), "the file is damaged");
    const state = stateOf(database);
    if (isReported) expect(!isDifferent(state, after), "it was reported as done, and is lost");
    for (const kind of ["leads", "others"] as const) {
      const [had, found, wanted] = [before[kind], state[kind], after[kind]].map((lines) => new Set(lines));
      if (had === undefined || found === undefined || wanted === undefined) continue;
      expect(had.intersection(wanted).isSubsetOf(found), `${kind} are gone`);
      expect(found.isSubsetOf(had.union(wanted)), `there are ${kind} that nobody sent`);
    }
    const had = new Set(before.leads);
    const [added, wanted] = [state, after].map(({ leads }) => leads.filter((lead) => !had.has(lead)));
    expect(added?.every((lead, place) => lead === wanted?.[place]) === true, "leads did not arrive oldest first");
    return state;
  });
}

const isDifferent = (one: State, other: State) => JSON.stringify(one) !== JSON.stringify(other);

/** Backs the file up, reads its receipts, and runs the command again. */
async function examine(point: Point, file: string, state: State, commands: CommandProcess): Promise<void> {
  const { step, expect } = point;
  const folder = dirname(file);
  const environment = surroundings(file);
  const run = async (...args: readonly string[]) => {
    const { status, stdout, stderr } = await commands.run({ args, folder, environment, input: "", nowMs: null });
    expect(status === 0, `${args.slice(0, 2).join(" ")} ended with ${status}: ${stderr}`);
    return stdout;
  };
  await compareReceipts(point, state, await run("receipt", "list", "acme"));
  const copy = join(folder, "copy.db");
  await run("backup", copy);
  expect(!isDifferent(look(copy, stateOf), state), "a backup has other leads or keys");
  await run(...step.args, "--json");
  const completed = look(file, stateOf);
  expect(completed.leads.join() === step.after.leads.join(), "the next run did not complete it");
  await compareReceipts(point, completed, await run("receipt", "list", "acme"));
}

interface Receipt {
  readonly removed: readonly string[];
  readonly received: readonly { readonly key: string }[];
}

/** Compares the receipts with the leads that are gone, all of which one key had read. */
function compareReceipts({ read, keyId, expect }: Point, { leads }: State, listed: string): void {
  const gone = new Set(read).difference(new Set(leads)).size;
  const receipts = listed.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Receipt])); // As decided.
  const removed = receipts.flatMap((receipt) => receipt.removed);
  const named = new Set(removed).size;
  expect(named === gone && removed.length === gone, `receipts name ${removed.length} of ${gone} erased leads`);
  const incomplete = receipts.filter(({ removed, received: [one, another] }) => {
    return removed.length > 0 && (one?.key !== keyId || another !== undefined);
  });
  expect(incomplete.length === 0, `${incomplete.length} receipts do not name the recipient`);
}
