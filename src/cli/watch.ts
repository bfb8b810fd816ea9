/** bun admin watch: makes the daily backups, and sends the alerts, of a running server. */
import type { Command } from "commander";
import { keepAlerting } from "../alerts.ts";
import { keepDaily, rotate } from "../backup/daily.ts";
import { openPlace } from "../backup/places.ts";
import { untilStopped } from "../backup/thread.ts";
import { type BackupConfig, readConfig, readDatabasePath, readS3Settings } from "../config.ts";
import { innermost } from "../db/failure.ts";
import { openLog } from "../log.ts";
import { statusOfService } from "../process.ts";
import { UserError } from "../user-error.ts";
import { storeIn } from "./backup.ts";
import { type CommandContext, jsonCommand } from "./command.ts";
import { findAll } from "./doctor/doctor.ts";
import { stopSignal } from "./terminal/signals.ts";

/** `bun start` runs it as a child process, so that a backup delays no request. */
export function watchCommand(context: CommandContext): Command {
  return jsonCommand("watch")
    .addHelpText("after", "\nThe server runs it by itself if BACKUP_TO or ALERT_URL is set.")
    .examples("watch")
    .action(async () => {
      const { backups, alertUrl, alertPingUrl, logLevel } = readConfig();
      const log = openLog(logLevel);
      const stop = stopSignal();
      const pause = async (ms: number) => {
        await context.sleep(ms, stop);
        return stop.aborted;
      };
      const clock = { now: context.now, pause };
      const sayFailure = (what: string) => (cause: unknown) => {
        if (!stop.aborted) log.error({ cause: cause instanceof UserError ? cause.sentence : innermost(cause) }, what);
      };
      const working: Promise<void>[] = [];
      let running: Promise<void> = Promise.resolve();
      if (backups !== null) {
        const makeBackup = async () => {
          log.info(await backUp(context, backups, stop), "a backup was made and verified");
          if (alertPingUrl === null) return;
          await ping(alertPingUrl, stop).catch(sayFailure("ALERT_PING_URL could not be requested"));
        };
        const run = () => (running = makeBackup());
        const onFailure = sayFailure("the backup failed; it is tried again in 15 minutes");
        const lastMs = () => lastOf(context, backups);
        working.push(keepDaily({ ...clock, at: backups.at, lastMs, run, onFailure }));
      }
      if (alertUrl !== null) {
        const file = `${readDatabasePath()}.alerts`;
        const onFailure = sayFailure("ALERT_URL took no alert; it is tried again");
        working.push(
          keepAlerting({ ...clock, url: alertUrl, file, find: () => findAll(context.now(), false), onFailure }),
        );
      }
      if (working.length === 0) {
        throw new UserError("There is nothing to watch.", "Set BACKUP_TO, ALERT_URL, or both.", 2);
      }
      try {
        await untilStopped(Promise.all(working), stop);
      } catch (cause) {
        if (!stop.aborted) throw cause;
        // A backup removes what it has copied. A request to a server that does not answer would go on for minutes.
        await running.catch(() => {});
        process.exit(statusOfService(stop.reason));
      }
    });
}

/** Returns the time of the newest backup, after deleting the old ones that a stopped server has left. */
async function lastOf(context: CommandContext, backups: BackupConfig): Promise<number | null> {
  await rotateIn(context, backups);
  const [newest] = await openPlace(backups.to, readS3Settings).list();
  return newest === undefined ? null : Date.parse(newest.made_at);
}

async function backUp(context: CommandContext, backups: BackupConfig, stop: AbortSignal) {
  const { file, bytes, leads } = await storeIn(context, backups.to, stop);
  const deleted = await untilStopped(rotateIn(context, backups), stop);
  return { file, bytes, leads, deleted: deleted.length };
}

function rotateIn(context: CommandContext, { to, keep }: BackupConfig): Promise<string[]> {
  return rotate(openPlace(to, readS3Settings), keep, readDatabasePath(), context.now());
}

async function ping(url: string, stop: AbortSignal): Promise<void> {
  const answer = await fetch(url, { signal: AbortSignal.any([AbortSignal.timeout(10_000), stop]) });
  if (!answer.ok) throw new Error(`the answer was ${answer.status}`);
}
