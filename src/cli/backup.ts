/** bun admin backup and upgrade: makes, tests, stores, and lists copies of the whole database, and upgrades the database. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Backup } from "../backup/backup.ts";
import { drill, type TestedBackup, tryUpgrade } from "../backup/drill.ts";
import { encryptedSuffix, openPlace, type StoredBackup, storeFor } from "../backup/places.ts";
import { storeBackup } from "../backup/store-backup.ts";
import { isS3, readBackups, readDatabasePath, readRecipient } from "../config.ts";
import { type AuditEntry, insertAct, warnUnrecorded } from "../db/audit.ts";
import { adminCommand, build } from "../runtime/program-name.ts";
import { stopSignal, unlessStopped } from "../runtime/signals.ts";
import { UserError } from "../runtime/user-error.ts";
import { typedPath } from "./arguments.ts";
import { type AnyCommand, type CommandContext, jsonCommand } from "./command.ts";
import { bytesText, grouped, leadsText } from "./terminal/numbers.ts";
import type { Output } from "./terminal/output.ts";
import { table } from "./terminal/table.ts";

/** The command `backup`. It never overwrites a file, and prints a backup only when it is complete, with its manifest. */
export function backupCommand(context: CommandContext): AnyCommand {
  return jsonCommand("backup", [
    "backup /var/backups/leadfile/today.db",
    "backup --drill /var/backups/leadfile/today.db",
    "backup s3://acme-backups/leadfile",
  ])
    .argument("<FILE>", "a file that does not exist yet, or s3://bucket/prefix", typedPath)
    .option(
      "--drill",
      "test FILE by restoring it into a temporary folder; if FILE does not exist, make this backup first",
    )
    .action(async (file, options) => {
      if (options.drill === true && file.endsWith(encryptedSuffix)) {
        const advice = `To test it, run: ${adminCommand} restore ${file} --identity FILE --dry-run`;
        throw new UserError(`${file} is encrypted.`, advice, 2);
      }
      if (isS3(file)) print(context.output, await storeIn(context, file));
      else await makeFile(context, file, options.drill === true);
    })
    .addCommand(listCommand(context));
}

const nothingMade = "No backup was made, and the partial copy was deleted.";

/** Makes a backup in a file. With --drill, tests it as well; if the file exists already, only tests it. */
async function makeFile(context: CommandContext, file: string, isDrill: boolean): Promise<void> {
  const stop = stopSignal();
  const test = () => unlessStopped(drill(file, context.now(), stop), `${file} exists, but its test was not completed.`);
  if (isDrill && existsSync(file)) return print(context.output, await test());
  const backups = await (await context.installed()).backups();
  const making = backups.make(file, context.now(), stop);
  const made = await unlessStopped(making, nothingMade);
  await record(context, "backup", { file: resolve(made.file), sha256: made.sha256, leads: made.leads });
  print(context.output, isDrill ? await test() : made);
  context.output.say(
    `It contains personal data: protect it like the database. A restore also needs ${file}.manifest.json.`,
  );
}

/** Records a backup in the audit. It is complete, whether or not it can be recorded. */
async function record(context: CommandContext, act: "backup" | "backup.verified", detail: AuditEntry["detail"]) {
  try {
    const database = context.database();
    await database.write([insertAct(database.read, { atMs: context.now(), act, account: null, detail })]);
  } catch (cause) {
    warnUnrecorded("backup", cause);
  }
}

function print(output: Output, backup: Backup | TestedBackup): void {
  const { file, sha256, bytes, leads } = backup;
  const retainedOut = "retainedOut" in backup ? backup.retainedOut : 0;
  const same = retainedOut === 0 ? "the same content" : "the same content, apart from leads that retention leaves out";
  const tested = "retainedOut" in backup ? ` A test restore has ${same}.` : "";
  output.result({ file, sha256, bytes, leads }, `${file} has ${leadsText(leads)} in ${grouped(bytes)} bytes.${tested}`);
  if (retainedOut > 0)
    output.say(
      `A restore on this day would leave out ${grouped(retainedOut)} of ${leadsText(leads)}: they are older than the retention period of their account.`,
    );
}

/** Stores a tested backup in a place, and records it. */
export async function storeIn(context: CommandContext, place: string, stop = stopSignal()): Promise<TestedBackup> {
  const installed = await context.installed();
  const store = await installed.store();
  const opened = openPlace(place, store);
  const recipient = readRecipient(place);
  const stored = await unlessStopped(
    storeBackup({
      backups: await installed.backups(),
      databasePath: readDatabasePath(),
      place: opened,
      encrypt: recipient === null ? null : (from, to) => storeFor(store).encrypt(from, to, recipient),
      nowMs: context.now(),
      stop,
    }),
    nothingMade,
  );
  const { file, sha256, bytes, leads } = stored;
  await record(context, "backup.verified", { file: isS3(file) ? file : resolve(file), sha256, bytes, leads });
  return stored;
}

function listCommand(context: CommandContext): AnyCommand {
  return jsonCommand("list", ["backup list", "backup list s3://acme-backups/leadfile --json"])
    .description("list the backups in a folder or bucket, newest first")
    .argument("[PLACE]", "a folder or s3://bucket/prefix (default: BACKUP_TO)", typedPath)
    .action(async (place) => {
      const wanted = place ?? readBackups()?.to;
      if (wanted === undefined) {
        throw new UserError(
          "BACKUP_TO is not set.",
          `Set it, or pass a folder or bucket: ${adminCommand} backup list s3://bucket/prefix`,
          2,
        );
      }
      const { backups } = await openPlace(wanted, await (await context.installed()).store()).listAll();
      const header = ["FILE", "MADE", "LEADS", "SIZE", "ENCRYPTED"];
      const listed = backups.map(({ instance: _, ...one }) => one);
      context.output.result(listed, table(header, backups.map(cellsOf), `There are no backups in ${wanted}.`));
    });
}

function cellsOf({ file, made_at, leads, bytes, encrypted }: StoredBackup): string[] {
  return [file, made_at, grouped(leads), bytesText(bytes), encrypted ? "yes" : "no"];
}

/**
 * The command `upgrade`. Opening the database upgrades it. With --check, throws a UserError if a copy cannot be upgraded or the
 * disk is too small.
 */
export function upgradeCommand(context: CommandContext): AnyCommand {
  return jsonCommand("upgrade", ["upgrade --check", "upgrade --check --json"])
    .option("--check", "upgrade a copy, compare every lead, report time and disk space, and change nothing")
    .action(async (options) => {
      const path = readDatabasePath();
      if (options.check !== true) {
        context.database();
        context.output.result({ to: build }, `${path} is upgraded to ${build}.`);
        return;
      }
      const trial = await unlessStopped(tryUpgrade(path, context.now(), stopSignal()), "Nothing has changed.");
      const { from, to, migrations, leads, seconds, neededBytes, freeBytes } = trial;
      if (neededBytes > freeBytes) {
        throw new UserError(
          `The upgrade needs ${bytesText(neededBytes)}, and the disk of ${path} has ${bytesText(freeBytes)} free.`,
          "Free some space, then run the command again.",
        );
      }
      const value = { from, to, migrations, leads, seconds, needed_bytes: neededBytes, free_bytes: freeBytes };
      const text =
        migrations === 0
          ? `${path} needs no upgrade to ${to}. Nothing has changed.`
          : `${path} can be upgraded from ${from} to ${to}. A copy was upgraded in ${seconds} s, and all of its ` +
            `${leadsText(leads)} are the same. The upgrade needs ${bytesText(neededBytes)} of disk space; ` +
            `${bytesText(freeBytes)} are free. Nothing has changed.`;
      context.output.result(value, text);
    });
}
