/** bun admin watch: makes the daily backups, and sends the alerts, of a running server. */
import type { Command } from "commander";
import { openPlace } from "../../src/backup/places.ts";
import { untilStopped } from "../../src/backup/thread.ts";
import { storeIn } from "../../src/cli/backup.ts";
import { type CommandContext, jsonCommand } from "../../src/cli/command.ts";
import { findAll } from "../../src/cli/doctor/doctor.ts";
import { type BackupConfig, readConfig, readDatabasePath } from "../../src/config.ts";
import { innermost } from "../../src/db/failure.ts";
import { openLog } from "../../src/runtime/log.ts";
import { statusOfService, stopSignal } from "../../src/runtime/signals.ts";
import { UserError } from "../../src/runtime/user-error.ts";
import { keepAlerting } from "./alerts.ts";
import { keepDaily, rotate } from "./daily.ts";

/** The longest time that the first alerts wait for the backup at the start. */
const maxStartMs = 15_000;

/** The parts of backups and alerts that are the same. */
interface Watch {
  readonly context: CommandContext;
  readonly log: ReturnType<typeof openLog>;
  readonly stop: AbortSignal;
}

/** `bun start` runs it as a child process, so that a backup delays no request. Throws a UserError if there is nothing to do. */
export function watchCommand(context: CommandContext): Command {
  return jsonCommand("watch")
    .addHelpText("after", "\nThe server does this itself if BACKUP_TO or ALERT_URL is set.")
    .examples("watch")
    .action(async () => {
      const { backups, alertUrl, alertPingUrl, logLevel } = readConfig();
      if (backups === null && alertUrl === null) {
        throw new UserError("Neither BACKUP_TO nor ALERT_URL is set.", "Set BACKUP_TO, ALERT_URL, or both.", 2);
      }
      const stop = stopSignal();
      const watch = { context, log: openLog(logLevel), stop };
      const daily = backups === null ? null : startBackups(watch, backups, alertPingUrl);
      const alerting = alertUrl === null ? null : startAlerts(watch, alertUrl, daily?.started ?? Promise.resolve());
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
  const started = Promise.withResolvers<void>();
  let running: Promise<void> = Promise.resolve();
  const working = keepDaily({
    now: watch.context.now,
    at: config.at,
    lastMs: () => lastBackupMs(watch, config),
    run: () => (running = makeBackup(watch, config, pingUrl)),
    onFailure: sayFailure(watch, "the backup failed; it is tried again in 15 minutes"),
    pause(ms) {
      started.resolve();
      return pause(watch, ms);
    },
  });
  return { working, started: started.promise, running: () => running };
}

/** Sends the alerts. The first ones wait for the backup at the start: it may resolve what they report. */
async function startAlerts(watch: Watch, url: string, started: Promise<void>): Promise<void> {
  const { now } = watch.context;
  await Promise.race([started, pause(watch, maxStartMs)]);
  await keepAlerting({
    url,
    file: `${readDatabasePath()}.alerts`,
    now,
    pause: (ms) => pause(watch, ms),
    find: () => findAll(watch.context, false),
    onFailure: sayFailure(watch, "the alert could not be sent to ALERT_URL; it is sent again later"),
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

/** Makes and verifies a backup. It counts even if old ones cannot be deleted after it, or ALERT_PING_URL does not answer. */
async function makeBackup(watch: Watch, config: BackupConfig, pingUrl: string | null): Promise<void> {
  const { file, bytes, leads } = await storeIn(watch.context, config.to, watch.stop);
  const deleted = await deleteOld(watch, config);
  watch.log.info({ file, bytes, leads, deleted }, "a backup was made and verified");
  if (pingUrl === null) return;
  await ping(pingUrl, watch.stop).catch(sayFailure(watch, "ALERT_PING_URL could not be requested"));
}

/** Returns the time of the newest backup; null if there is none. Deletes old ones that a stopped server has left. */
async function lastBackupMs(watch: Watch, config: BackupConfig): Promise<number | null> {
  const nowMs = watch.context.now();
  const times = (await openPlace(config.to, config.access).list(nowMs)).map(({ made_at }) => Date.parse(made_at));
  // A clock that is behind must not decide which backups are old.
  if (times.every((ms) => ms <= watch.context.now())) await deleteOld(watch, config);
  return times[0] ?? null;
}

/** Deletes all but the newest backups, and returns how many; 0 if that fails, which is logged. */
async function deleteOld(watch: Watch, { to, keep, access }: BackupConfig): Promise<number> {
  try {
    const rotating = rotate(openPlace(to, access), keep, readDatabasePath(), watch.context.now());
    return (await untilStopped(rotating, watch.stop)).length;
  } catch (cause) {
    sayFailure(watch, "old backups could not be deleted")(cause);
    return 0;
  }
}

async function ping(url: string, stop: AbortSignal): Promise<void> {
  const answer = await fetch(url, { signal: AbortSignal.any([AbortSignal.timeout(10_000), stop]) });
  if (!answer.ok) throw new Error(`the answer was ${answer.status}`);
}
