/** bun admin stats: leads by day, pixel, state, and source, and requests by key, as charts in the terminal or as a page. */
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { commandOnAccount, typedPath, wholeNumber } from "../../src/cli/arguments.ts";
import type { AnyCommand, CommandContext } from "../../src/cli/command.ts";
import { grouped } from "../../src/cli/terminal/numbers.ts";
import { pad } from "../../src/cli/terminal/table.ts";
import { readDatabasePath } from "../../src/config.ts";
import { dayMs, dayOf } from "../../src/contract/calendar.ts";
import { formatTime } from "../../src/contract/time.ts";
import type { Account } from "../../src/db/accounts.ts";
import { codeOf } from "../../src/db/failure.ts";
import { columnsOf } from "../../src/runtime/process.ts";
import { printable, UserError } from "../../src/runtime/user-error.ts";
import { type Chart, chartsOf, readStats, type Share, type Stats, sumOf } from "./counts.ts";
import { spanText, statsPage } from "./page.ts";

const maxDays = 3_660;

/** The command `stats`. It covers UTC days up to today. It throws a UserError if the page cannot be written. */
export function statsCommand(context: CommandContext): AnyCommand {
  return commandOnAccount(context, "stats", [
    "stats acme",
    "stats acme --days 365",
    "stats acme --html acme.html",
    "stats acme --json",
  ])
    .option("--days <N>", "number of UTC days, including today", wholeNumber("--days", 1, maxDays), 30)
    .option("--html <FILE>", "write the charts to a web page without personal data or external resources", typedPath)
    .action((account, { days, html }) => {
      const nowMs = context.now();
      const period = Array.from({ length: days }, (_, index) => dayOf(nowMs - (days - 1 - index) * dayMs));
      const stats = readStats(context.database().read, account.number, period);
      if (html !== undefined) writePage(html, statsPage(account, stats, nowMs));
      const text = html === undefined ? statsText(account, stats) : `The charts are in ${html}; open it in a browser.`;
      context.output.result(view(account, stats), text);
    });
}

function statsText(account: Account, stats: Stats): string {
  if (stats.newestMs === null) return `${account.name} has no leads yet.`;
  const isEmpty = sumOf(stats.byDay) === 0;
  return [
    `${account.name}: ${spanText(stats)}${isEmpty ? ` ${adviceFor(stats.newestMs, stats.period.at(-1) ?? "")}` : ""}`,
    ...chartsOf(stats)
      .filter(({ bars }) => !isEmpty || bars.length > 0)
      .map(({ title, bars }) => `${title}\n${bars.length === 0 ? "none" : draw(bars)}`),
  ].join("\n\n");
}

/** Names the newest lead and, if one is long enough, a period that contains it: months of 30 days. */
function adviceFor(newestMs: number, today: string): string {
  const newest = dayOf(newestMs);
  const days = (Date.parse(today) - Date.parse(newest)) / dayMs + 1;
  return `The newest lead is from ${newest}${days > maxDays ? "" : `; try --days ${Math.ceil(days / 30) * 30}`}.`;
}

const maxWidth = 80;
/** Wide enough for a date. */
const minNameWidth = 10;

/** Draws one line for each bar. The longest fills the width; a count above 0 shows at least one character. */
function draw(bars: Chart["bars"]): string {
  const lines = bars.map(({ name, count, length }) => ({ name: printable(name), number: grouped(count), length }));
  const width = Math.min(columnsOf(process.stdout) ?? maxWidth, maxWidth);
  const widest = Math.max(...lines.map(({ name }) => Bun.stringWidth(name)));
  const nameWidth = Math.min(widest, Math.max(minNameWidth, Math.floor(width * 0.3)));
  const numberWidth = Math.max(...lines.map(({ number }) => number.length));
  const barWidth = Math.max(1, width - nameWidth - numberWidth - 4);
  return lines
    .map(({ name, number, length }) => {
      const bar = "█".repeat(Math.ceil(length * barWidth));
      return `${pad(name, nameWidth)}  ${number.padStart(numberWidth)}  ${bar}`.trimEnd();
    })
    .join("\n");
}

/** Writes the whole page or nothing. Throws a UserError if it cannot, or if the file belongs to the database. */
function writePage(file: string, page: string): void {
  const path = readDatabasePath();
  // Copies of the database, from before an upgrade or a restore, begin with its path as well.
  if (resolve(file).startsWith(resolve(path))) {
    throw new UserError(`--html names a file of the database ${path}.`, "Name another file.", 2);
  }
  const draft = `${file}.draft-${process.pid}`;
  try {
    // In a folder that others can write to, the name could be that of a link.
    writeFileSync(draft, page, { flag: "wx" });
    renameSync(draft, file);
  } catch (cause) {
    if (existsSync(draft)) rmSync(draft);
    const advice = "Check that its folder exists, and that this user can write to it.";
    throw new UserError(`${file} cannot be written (${codeOf(cause)}).`, advice);
  }
}

function view(account: Account, { period, total, byDay, byPixel, byState, bySource, requests, imports }: Stats) {
  const named = (name: string, shares: readonly Share[]) =>
    shares.map((share) => ({ [name]: share.name, leads: share.count }));
  return {
    account: account.id,
    from: period[0],
    to: period.at(-1),
    leads: { all: total, in_period: sumOf(byDay) },
    by_day: named("day", byDay),
    by_pixel: named("pixel_id", byPixel),
    by_state: named("state", byState),
    by_source: named("traffic_source", bySource),
    requests,
    imports: imports.map(({ number, atMs, ...counts }) => ({ import: number, at: formatTime(atMs), ...counts })),
  };
}
