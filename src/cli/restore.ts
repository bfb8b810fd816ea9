/** bun admin restore: replaces the database by a backup. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Restoration } from "../backup/restore.ts";
import { readDatabasePath } from "../config.ts";
import { dayMs } from "../contract/calendar.ts";
import { formatTime } from "../contract/time.ts";
import { adminCommand } from "../runtime/program-name.ts";
import { stopSignal, unlessStopped } from "../runtime/signals.ts";
import { UserError } from "../runtime/user-error.ts";
import { typedPath } from "./arguments.ts";
import { type AnyCommand, type CommandContext, jsonCommand } from "./command.ts";
import { bytesText, counted, firstOf, grouped, leadsText } from "./terminal/numbers.ts";
import { canAsk, confirm } from "./terminal/prompt.ts";

/** Replaces the database only after every check of the backup. Throws a UserError if much would be lost and nobody confirms it. */
export function restoreCommand(context: CommandContext): AnyCommand {
  return jsonCommand("restore", [
    "restore today.db --dry-run",
    "restore today.db --receipts receipts.ndjson",
    "restore s3://acme-backups/leadfile --identity identity.txt",
  ])
    .argument("<FILE>", "a backup; for the newest backup of a place, its folder or s3://bucket/prefix", typedPath)
    .option("--identity <FILE>", "the age identity that decrypts the backup", typedPath)
    .option("--receipts <FILE>", "repeat the erasures of the receipts in FILE, as receipt list prints them", typedPath)
    .option("--dry-run", "report what would be removed and lost, and change nothing")
    .option("--yes", "do not ask, even if much would be lost")
    .action(async (file, options) => {
      const path = readDatabasePath();
      const nowMs = context.now();
      const dryRun = options.dryRun === true;
      const say = (report: Restoration) => {
        for (const warning of report.warnings) context.output.say(`Warning: ${warning}`);
        context.output.say(replacementText(path, dryRun));
        for (const line of goneTexts(report)) context.output.say(line);
      };
      const installed = await context.installed();
      const request = {
        named: file,
        identity: options.identity ?? null,
        store: await installed.store(),
        receipts: options.receipts ?? null,
        nowMs,
        dryRun,
      };
      const backups = await installed.backups();
      const restoring = backups.restore(request, stopSignal(), async (report) => {
        say(report);
        await confirmLoss(report, options, nowMs);
      });
      const report = await unlessStopped(restoring, `${path} has not changed.`);
      if (dryRun) say(report);
      const { leads, erasedAgain, retainedOut, lost } = report;
      const value = {
        leads,
        erased_again: erasedAgain,
        retained_out: retainedOut,
        lost: {
          leads: lost.leads?.reduce((sum, one) => sum + one.leads, 0) ?? null,
          imports: lost.imports?.length ?? null,
          keys: lost.keys,
          accounts: lost.accounts?.length ?? null,
        },
      };
      context.output.result(value, `${path} ${dryRun ? "would have" : "now has"} ${leadsText(leads)}.`);
      for (const line of afterTexts(report, dryRun)) context.output.say(line);
    });
}

function replacementText(path: string, dryRun: boolean): string {
  const replaced = resolve(path);
  const size = statSync(replaced, { throwIfNoEntry: false })?.size ?? 0;
  const would = dryRun ? "Would replace" : "Replacing";
  return size > 0
    ? `${would} ${replaced} (${bytesText(size)}).`
    : `There is no database at ${replaced}; the backup ${dryRun ? "would become" : "becomes"} it.`;
}

const shown = 5;

/** One line for each kind of data that will be gone. */
function goneTexts({ lost, kept, erasedAgain, retainedOut, deletedAccounts, madeMs }: Restoration): string[] {
  const since = `since the backup of ${formatTime(madeMs)}`;
  const { imports, leads, keys, accounts } = lost;
  const importTexts = imports?.map((one) => `${one.file} (${one.account}, ${one.leads})`) ?? [];
  const unknown = Object.entries({ leads, imports, keys, accounts }).flatMap(([what, one]) =>
    one === null ? what : [],
  );
  const lines = [
    kept !== null &&
      unknown.length > 0 &&
      `Unknown: which ${unknown.join(", ")} will be lost. The file that is replaced cannot be read.`,
    importTexts.length > 0 &&
      `Lost: ${counted("import")(importTexts.length)} ${since}: ${firstOf(importTexts, shown)}.`,
    ...(leads ?? []).map((one) => `Lost: ${leadsText(one.leads)} of ${one.account} that the backup does not have.`),
    keys !== null && keys > 0 && `Lost: ${counted("key")(keys)} created ${since}.`,
    accounts !== null &&
      accounts.length > 0 &&
      `Lost: ${counted("account")(accounts.length)} created ${since}: ${firstOf(accounts, shown)}.`,
    erasedAgain > 0 && `Erased again: ${leadsText(erasedAgain)} of persons erased ${since}.`,
    deletedAccounts > 0 && `Left out: ${counted("account")(deletedAccounts)} deleted ${since}, with all leads.`,
    retainedOut > 0 && `Left out: ${leadsText(retainedOut)} older than the retention period of their account.`,
  ];
  return lines.filter((line) => line !== false);
}

const maxAgeDays = 400;

/** The options that answer what a restore would ask. */
interface Answers {
  readonly yes?: boolean;
  readonly receipts?: string;
}

/** Asks before much is lost. Throws a UserError if the answer is no, or if --yes is missing and nobody can be asked. */
async function confirmLoss(report: Restoration, { yes, receipts }: Answers, nowMs: number): Promise<void> {
  if (yes === true) return;
  const { madeMs, leads, retainedOut, lost, kept } = report;
  const made = formatTime(madeMs);
  const unknown = unknownTexts(report, receipts !== undefined);
  const doubts = [
    madeMs - nowMs > dayMs && `the clock says ${formatTime(nowMs)}, before the backup of ${made} was made`,
    nowMs - madeMs > maxAgeDays * dayMs && `the backup of ${made} is more than ${maxAgeDays} days old`,
    retainedOut > leads && `retention leaves out ${leadsText(retainedOut)} and keeps ${leadsText(leads)}`,
    ...unknown,
  ].filter((doubt) => doubt !== false);
  if (doubts.length > 0 && !canAsk()) {
    const check = "Check the clock and the backup (--dry-run shows what would be lost), then pass --yes.";
    throw new UserError(
      `Nothing was restored: ${doubts.join(", and ")}.`,
      unknown.length > 0 ? emergencyAdvice(report) : check,
    );
  }
  const hasLost = (one: number | readonly unknown[] | null) =>
    one === null ? kept !== null : typeof one === "number" ? one > 0 : one.length > 0;
  const isLosing = [lost.leads, lost.imports, lost.keys, lost.accounts].some(hasLost);
  const why = doubts.length === 0 ? "" : `Note that ${doubts.join(", and ")}. `;
  const what = unknown.length > 0 ? `${emergencyAdvice(report)} ` : "";
  if (isLosing || doubts.length > 0) await confirm(`${why}${what}Replace the database?`, {});
}

/** Returns the files whose erasures or revocations the restore cannot read. Receipts replace only the erasures. */
function unknownTexts({ unknown }: Restoration, hasReceipts: boolean): string[] {
  return unknown.flatMap(({ file, acts }) => {
    const unanswered = acts.filter((one) => one === "revocations" || !hasReceipts);
    return unanswered.length === 0 ? [] : [`the ${unanswered.join(" and ")} of ${file} cannot be read`];
  });
}

/** Returns the advice for an outage in which nobody can repair the file first. */
function emergencyAdvice({ madeMs }: Restoration): string {
  return (
    `Persons erased since ${formatTime(madeMs)} may be served again, and keys and sources revoked since then may work again. ` +
    "To repeat the erasures, pass --receipts FILE. " +
    "To start serving now, pass --yes, and then repeat each erasure (lead erase) and revocation (key revoke, source revoke) made since then."
  );
}

const again =
  "Erasures, revocations, and settings made after the backup may be lost. Repeat them (for erasures: restore --receipts FILE).";

/** Returns a message about the time since the backup, which the replaced file does not record. */
function sinceText({ isNewerKnown, receipts, madeMs }: Restoration): string {
  const since = `changed since ${formatTime(madeMs)} must be changed again.`;
  const later = receipts === 0 ? "Later ones may be lost (for erasures: restore --receipts FILE). " : "";
  if (isNewerKnown) return `Erasures and revocations were taken from newer backups. ${later}Settings ${since}`;
  if (receipts === 0) return `No newer data was found on this machine. ${again}`;
  const applied = `${counted("receipt")(receipts)} ${receipts === 1 ? "was" : "were"} applied`;
  return `No newer data was found on this machine; ${applied}. Repeat the revocations and the changes of settings made since ${formatTime(madeMs)}.`;
}

/** Returns what the operator may want to do next. */
function afterTexts(report: Restoration, dryRun: boolean): string[] {
  const { lost, carried, unread, isContinuation, kept } = report;
  const parts = carried.map(({ name, count }) => `${name} (${grouped(count)})`);
  const copy = dryRun ? (kept ?? "").replace(/\.replaced-.*/, ".replaced-TIME") : kept;
  return [
    parts.length > 0 && `Carried over from the replaced file: ${parts.join(", ")}.`,
    unread.length > 0 && `Warning: these parts of the replaced file could not be read: ${unread.join(", ")}. ${again}`,
    !isContinuation && unread.length === 0 && sinceText(report),
    kept !== null && !dryRun && `The replaced file is kept as ${kept}. Delete it when you no longer need it.`,
    ...(lost.leads ?? []).map(({ account }) => {
      const name = quoted(account);
      const create = lost.accounts?.includes(account) === true ? `${adminCommand} account create ${name}; ` : "";
      const copied = `DATABASE_PATH=${quoted(copy ?? "")} ${adminCommand} lead export ${name}`;
      return `To carry over these leads: ${create}${copied} | ${adminCommand} lead import ${name} - --create-pixels`;
    }),
  ].filter((line) => line !== false);
}

/** A word as a shell reads it. */
function quoted(word: string): string {
  return /^[\w./:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
