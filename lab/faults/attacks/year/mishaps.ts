/** The mistakes of an owner: a wrong path, a wrong bucket, a clock far ahead, and a service that is not restarted. */
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { dayMs } from "../../../../src/contract/calendar.ts";
import { admin, startListening, startServer, surroundings } from "../../product/program.ts";
import { createClock } from "./clock.ts";
import { copyOf, type Year } from "./days.ts";
import { account } from "./machine.ts";

type Settings = Readonly<Record<string, string>>;

/** Makes each mistake once. The doctor reports all of them, and nothing is lost. */
export async function makeMistakes(year: Year): Promise<void> {
  await startWithoutDatabase(year);
  await misspellBucket(year);
  await setClockAhead(year);
  await forgetRestart(year);
}

/** What the doctor of a build reports about a database. */
async function expectFinding({ machine, expect }: Year, says: RegExp, file: string, settings: Settings): Promise<void> {
  const { stdout } = await admin(machine.build, file, ["doctor", "--json"], { settings });
  expect(says.test(stdout), () => `doctor does not say ${says}: ${stdout}`);
}

/** A typing error in DATABASE_PATH: the server starts empty, and makes a backup in the same place. */
async function startWithoutDatabase(year: Year): Promise<void> {
  const { machine, clock, expect, folder } = year;
  const stored = machine.backups();
  const typed = join(folder, "typo");
  mkdirSync(typed);
  const file = join(typed, "leadfile.db");
  await machine.stop();
  const server = await startServer(machine.build, file, machine.settings);
  const added = () => machine.backups().filter((name) => !stored.includes(name));
  expect(await clock.passUntil(() => added().length > 0, 1_000), () => "the empty server makes no backup");
  await expectFinding(year, /"broken","what":"[^"]*another database/, file, machine.settings);
  await server.end();
  const kept = machine.backups();
  const lost = stored.filter((name) => !kept.includes(name));
  expect(lost.length === 0, () => `an empty server deleted ${lost}`);
  for (const name of added()) {
    const path = join(folder, "store/leads/year", basename(name));
    for (const one of [path, `${path}.manifest.json`]) rmSync(one);
  }
  rmSync(typed, { recursive: true });
  await machine.start();
}

async function misspellBucket(year: Year): Promise<void> {
  const { file, settings } = year.machine;
  await expectFinding(year, /s3:\/\/laeds\/year cannot be read/, file, { ...settings, BACKUP_TO: "s3://laeds/year" });
}

/** A clock five years ahead: retention erases nothing without a person. */
async function setClockAhead(year: Year): Promise<void> {
  const { machine, clock, expect, folder } = year;
  const { file } = await copyOf(year, "ahead");
  const leads = async () => (await machine.admin(["lead", "export", account], file)).stdout.split("\n").length;
  const before = await leads();
  const ahead = createClock(join(folder, "ahead"), clock.now() + 5 * 365 * dayMs);
  const server = await startServer(machine.build, file, ahead.environment);
  ahead.passTo(ahead.now() + 26 * 3_600_000);
  await Bun.sleep(500);
  await expectFinding(year, /"what":"[^"]*clock/i, file, ahead.environment);
  await server.end();
  const after = await leads();
  expect(after === before, () => `a clock ahead erased ${before - after} of ${before} leads`);
  rmSync(join(folder, "ahead"), { recursive: true });
}

/** The program of a server is replaced while it runs. */
async function forgetRestart(year: Year): Promise<void> {
  const { machine, folder } = year;
  const { file, environment } = await copyOf(year, "old");
  const program = join(folder, "old/bun");
  copyFileSync(process.execPath, program);
  const command = [program, join(machine.build, "src/main.ts")];
  const server = await startListening(command, surroundings(file, environment), machine.build);
  rmSync(program);
  await expectFinding(year, /runs a program that was replaced or deleted/, file, environment);
  await server.end();
  rmSync(join(folder, "old"), { recursive: true });
}
