/** bun admin watch: makes the daily backups, and sends the alerts, of a running server. */
import { count } from "drizzle-orm";
import { openPlace } from "../../src/backup/places.ts";
import { untilStopped } from "../../src/backup/thread.ts";
import { storeIn } from "../../src/cli/backup.ts";
import { type AnyCommand, type CommandContext, jsonCommand } from "../../src/cli/command.ts";
import { findAll } from "../../src/cli/doctor/doctor.ts";
import { type BackupConfig, isS3, readConfig, readDatabasePath } from "../../src/config.ts";
import { formatTime } from "../../src/contract/time.ts";
import { ownFilePath, removeAbandonedDrafts } from "../../src/db/database-files.ts";
import { innermost, orElse } from "../../src/db/failure.ts";
import { instanceOf } from "../../src/db/open.ts";
import { leads as storedLeads } from "../../src/db/schema.ts";
import { openLog } from "../../src/runtime/log.ts";
import { statusOfService, stopSignal } from "../../src/runtime/signals.ts";
import { UserError } from "../../src/runtime/user-error.ts";
import { keepAlerting } from "./alerts.ts";
import { recordAttempt } from "./attempt.ts";
import { keepDaily, rotate } from "./daily.ts";
import { listPlace } from "./listing.ts";
import { findDoubt, type OwnDatabase, ownAmong } from "./owner.ts";
import { store } from "./store.ts";
import { readWays, type Way } from "./ways.ts";

/** The longest time that the first alerts wait for the backup at the start. */
const maxStartMs = 15_000;

/** The parts of backups and alerts that are the same. */
interface Watch {
  readonly context: CommandContext;
  readonly log: ReturnType<typeof openLog>;
  readonly stop: AbortSignal;
}

/** `bun start` runs it as a child process, so that a backup delays no request. Throws a UserError if there is nothing to do. */
export function watchCommand(context: CommandContext): AnyCommand {
  return jsonCommand("watch", ["watch"])
    .addHelpText(
      "after",
      "\nThe server runs this itself if BACKUP_TO, ALERT_URL, or ALERT_MAIL_TO is set:\ndo not run it as well.",
    )
    .action(async () => {
      const { backups, alertPingUrl, logLevel } = readConfig();
      const ways = readWays();
      if (backups === null && ways.length === 0) {
        const advice = "Set BACKUP_TO, ALERT_URL, or ALERT_MAIL_TO and SMTP_URL.";
        throw new UserError("Neither BACKUP_TO nor ALERT_URL is set.", advice, 2);
      }
      const stop = stopSignal();
      const watch = { context, log: openLog(logLevel), stop };
      const daily = backups === null ? null : startBackups(watch, backups, alertPingUrl);
      const alerting = ways.length === 0 ? null : startAlerts(watch, ways, daily?.started ?? Promise.resolve());
      try {
        await untilStopped(Promise.all([daily?.working, alerting]), stop);
      } catch (cause) {
        if (!stop.aborted) throw cause;
        // A backup removes what it has copied. A request to a server that does not answer would go on for
        // minutes. A failure of the backup no longer matters, because the process ends.
        await daily?.running().catch(() => {});
        process.exit(statusOfService(stop.reason));
      }
    });
}

/** Makes the backups. `started` resolves after the one at the start, and `running` is the one that is being made. */
function startBackups(watch: Watch, config: BackupConfig, pingUrl: string | null) {
  // An earlier version made its drafts there, unencrypted, and a kill left them.
  if (!isS3(config.to)) orElse(() => removeAbandonedDrafts(config.to, 0), undefined);
  const started = Promise.withResolvers<void>();
  let running: Promise<void> = Promise.resolve();
  const working = keepDaily({
    now: watch.context.now,
    at: config.at,
    lastMs: () => lastBackupMs(watch, config),
    run: () => (running = makeBackup(watch, config, pingUrl)),
    onFailure(cause) {
      const reason = cause instanceof UserError ? cause.sentence : innermost(cause);
      if (!watch.stop.aborted) recordAttempt(readDatabasePath(), { at: formatTime(watch.context.now()), reason });
      sayFailure(watch, "the backup failed; it is tried again in 15 minutes")(cause);
    },
    pause(ms) {
      started.resolve();
      return pause(watch, ms);
    },
  });
  return { working, started: started.promise, running: () => running };
}

/** Sends the alerts. The first ones wait for the backup at the start: it may resolve what they report. */
async function startAlerts(watch: Watch, ways: readonly Way[], started: Promise<void>): Promise<void> {
  const { now, sendsSharedAlerts } = watch.context;
  await Promise.race([started, pause(watch, maxStartMs)]);
  await keepAlerting({
    ways,
    file: ownFilePath(readDatabasePath(), "alerts"),
    now,
    pause: (ms) => pause(watch, ms),
    find: () => findAll(watch.context, false),
    sendsSharedAlerts,
    onFailure: (name, cause) =>
      sayFailure(watch, `the alert could not be sent (${name}); it is sent again later`)(cause),
  });
}

/** Waits, and returns whether the process is to stop. */
async function pause({ context, stop }: Watch, ms: number): Promise<boolean> {
  await context.sleep(ms, stop);
  return stop.aborted;
}

/** Returns a function that logs a failure, unless it comes from the stop. */
function sayFailure({ log, stop }: Watch, what: string): (cause: unknown) => void {
  return (cause) => {
    if (!stop.aborted) log.error({ cause: cause instanceof UserError ? cause.sentence : innermost(cause) }, what);
  };
}

/**
 * Makes and verifies a backup. It counts even if old ones cannot be deleted after it, or ALERT_PING_URL does not answer. In a
 * place that may belong to another database, nothing is deleted, and nothing is pinged.
 */
async function makeBackup(watch: Watch, config: BackupConfig, pingUrl: string | null): Promise<void> {
  const before = await listPlace(config.to, watch.context.now());
  const { file, bytes, leads } = await storeIn(watch.context, config.to, watch.stop);
  recordAttempt(readDatabasePath(), null);
  const doubt = findDoubt(before, { ...ownDatabase(watch), leads }, config.to);
  const deleted = doubt === null ? await deleteOld(watch, config) : 0;
  watch.log.info({ file, bytes, leads, deleted }, "a backup was made and verified");
  if (doubt !== null) watch.log.error({ cause: `${doubt.what} ${doubt.advice}` }, "no old backup was deleted");
  if (doubt !== null || pingUrl === null) return;
  await ping(pingUrl, watch.stop).catch(sayFailure(watch, "ALERT_PING_URL could not be requested"));
}

/** Returns the time of the newest backup; null if there is none. Deletes old ones that a stopped server has left. */
async function lastBackupMs(watch: Watch, config: BackupConfig): Promise<number | null> {
  const backups = await listPlace(config.to, watch.context.now());
  const own = ownDatabase(watch);
  // A clock that is behind must not decide which backups are old.
  const isAhead = backups.some(({ made_at }) => Date.parse(made_at) > watch.context.now());
  if (!isAhead && findDoubt(backups, own, config.to) === null) await deleteOld(watch, config);
  const [newest] = ownAmong(backups, own);
  return newest === undefined ? null : Date.parse(newest.made_at);
}

function ownDatabase({ context }: Watch): OwnDatabase {
  const { read, path } = context.database();
  const [{ leads } = { leads: 0 }] = read.select({ leads: count() }).from(storedLeads).all();
  return { path, instance: instanceOf(read), leads };
}

/** Deletes all but the newest backups, and returns how many; 0 if that fails, which is logged. */
async function deleteOld(watch: Watch, { to, keep }: BackupConfig): Promise<number> {
  try {
    const rotating = rotate(openPlace(to, store), keep, readDatabasePath(), watch.context.now());
    return (await untilStopped(rotating, watch.stop)).length;
  } catch (cause) {
    sayFailure(watch, "old backups could not be deleted")(cause);
    return 0;
  }
}

async function ping(url: string, stop: AbortSignal): Promise<void> {
  const answer = await fetch(url, { redirect: "manual", signal: AbortSignal.any([AbortSignal.timeout(10_000), stop]) });
  if (!answer.ok) throw new Error(`the response was ${answer.status}`);
}
