/** bun admin upgrade: upgrades the database to this version, or tries that on a copy. */
import type { Command } from "commander";
import { tryUpgrade } from "../backup/drill.ts";
import { readDatabasePath } from "../config.ts";
import { build } from "../runtime/program-name.ts";
import { stopSignal, unlessStopped } from "../runtime/signals.ts";
import { UserError } from "../runtime/user-error.ts";
import { type CommandContext, jsonCommand } from "./command.ts";
import { bytesText, leadsText } from "./terminal/numbers.ts";

/** Opening the database upgrades it. With --check, throws a UserError if a copy cannot be upgraded or the disk is too small. */
export function upgradeCommand(context: CommandContext): Command {
  return jsonCommand("upgrade")
    .option("--check", "upgrade a copy, compare every lead, report time and disk space, and change nothing")
    .examples("upgrade --check", "upgrade --check --json")
    .action(async (options: { check?: boolean }) => {
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
