/** bun admin watch: makes the daily backups, and sends the alerts, of a running server. */
import type { Command } from "commander";
import { keepAlerting } from "../alerts.ts";
import { keepDaily, rotate } from "../backup/daily.ts";
import { openPlace } from "../backup/places.ts";
import { untilStopped } from "../backup/thread.ts";
import { type BackupConfig, readConfig, readDatabasePath } from "../config.ts";
import { innermost } from "../db/failure.ts";
import { openLog } from "../log.ts";
import { statusOfService, stopSignal } from "../signals.ts";
import { UserError } from "../user-error.ts";
import { storeIn } from "./backup.ts";
import { type CommandContext, jsonCommand } from "./command.ts";
import { findAll } from "./doctor/doctor.ts";

/** The longest time that the first alerts wait for the backup at the start. */
const maxStartMs = 15_000;

/** `bun start` runs it as a child process, so that a backup delays no request. */
export function watchCommand(context: CommandContext): Command {
  return jsonCommand("watch")
    .addHelpText("after", "\nThe server does this itself if BACKUP_TO or ALERT_URL is set.")
    .examples("watch")
    .action(async () => {
      const { backups, alertUrl, alertPingUrl, logLevel } = readConfig();
      const log = openLog(logLevel);
      const stop = stopSignal();
      const pause = async (ms: number) => {
        await context.sleep(ms, stop);
        return stop.aborted;
      };
      const sayFailure = (what: string) => (cause: unknown) => {
        if (!stop.aborted) log.error({ cause: cause instanceof UserError ? cause.sentence : innermost(cause) }, what);
      };
      const working: Promise<void>[] = [];
      // The first alerts wait for the backup at the start: it may resolve what they report.
      const started = Promise.withResolvers<void>();
      let running: Promise<void> = Promise.resolve();
      if (backups !== null) {
        const work = backupWork(context, backups, stop, sayFailure);
        const makeBackup = async () => {
          log.info(await work.make(), "a backup was made and verified");
          if (alertPingUrl === null) return;
          await ping(alertPingUrl, stop).catch(sayFailure("ALERT_PING_URL could not be requested"));
        };
        const run = () => (running = makeBackup());
        const onFailure = sayFailure("the backup failed; it is tried again in 15 minutes");
        const pauseAfterStart = (ms: number) => {
          started.resolve();
          return pause(ms);
        };
        const schedule = { now: context.now, pause: pauseAfterStart, at: backups.at };
        working.push(keepDaily({ ...schedule, lastMs: work.lastMs, run, onFailure }));
      } else started.resolve();
      if (alertUrl !== null) {
        const file = `${readDatabasePath()}.alerts`;
        const onFailure = sayFailure("the alert could not be sent to ALERT_URL; it is sent again later");
        const alerting = { now: context.now, pause, find: () => findAll(context.now(), false) };
        const soon = Promise.race([started.promise, pause(maxStartMs)]);
        working.push(soon.then(() => keepAlerting({ ...alerting, url: alertUrl, file, onFailure })));
      }
      if (working.length === 0) {
        throw new UserError("Neither BACKUP_TO nor ALERT_URL is set.", "Set BACKUP_TO, ALERT_URL, or both.", 2);
      }
      try {
        await untilStopped(Promise.all(working), stop);
      } catch (cause) {
        if (!stop.aborted) throw cause;
        // A backup removes what it has copied. A request to a server that does not answer would go on for
        // minutes. A failure of the backup no longer matters, because the process ends.
        await running.catch(() => {});
        process.exit(statusOfService(stop.reason));
      }
    });
}

/** The work of a daily backup. A backup counts even if old ones cannot be deleted after it. */
function backupWork(
  context: CommandContext,
  { to, keep, access }: BackupConfig,
  stop: AbortSignal,
  sayFailure: (what: string) => (cause: unknown) => void,
) {
  const place = () => openPlace(to, access);
  async function deleteOld(): Promise<number> {
    try {
      return (await untilStopped(rotate(place(), keep, readDatabasePath(), context.now()), stop)).length;
    } catch (cause) {
      sayFailure("old backups could not be deleted")(cause);
      return 0;
    }
  }
  return {
    async make() {
      const { file, bytes, leads } = await storeIn(context, to, stop);
      return { file, bytes, leads, deleted: await deleteOld() };
    },
    /** Returns the time of the newest backup; null if there is none. Deletes old ones that a stopped server has left. */
    async lastMs(): Promise<number | null> {
      const times = (await place().list(context.now())).map(({ made_at }) => Date.parse(made_at));
      // A clock that is behind must not decide which backups are old.
      if (times.every((ms) => ms <= context.now())) await deleteOld();
      return times[0] ?? null;
    },
  };
}

async function ping(url: string, stop: AbortSignal): Promise<void> {
  const answer = await fetch(url, { signal: AbortSignal.any([AbortSignal.timeout(10_000), stop]) });
  if (!answer.ok) throw new Error(`the answer was ${answer.status}`);
}
