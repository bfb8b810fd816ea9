/** bun admin stats: leads by day, pixel, state, and source, and requests by key, as charts in the terminal or as a page. */
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { commandOnAccount, typedPath, wholeNumber } from "../../src/cli/arguments.ts";
import type { CommandContext } from "../../src/cli/command.ts";
import { grouped } from "../../src/cli/terminal/numbers.ts";
import { pad } from "../../src/cli/terminal/table.ts";
import { readDatabasePath } from "../../src/config.ts";
import { dayMs, dayOf } from "../../src/contract/calendar.ts";
import { formatTime } from "../../src/contract/time.ts";
import type { Account } from "../../src/db/accounts.ts";
import { codeOf } from "../../src/db/failure.ts";
import { columnsOf } from "../../src/runtime/process.ts";
import { printable, UserError } from "../../src/runtime/user-error.ts";
import { type Chart, chartsOf, lengthsOf, sumOf } from "./charts.ts";
import { readStats, type Share, type Stats } from "./counts.ts";
import { type Figures, statsPage } from "./page.ts";

const maxDays = 3_660;

interface StatsOptions {
  readonly days: number;
  readonly html?: string;
}

/** Counts UTC days up to today. Throws a UserError if the page cannot be written. */
export function statsCommand(context: CommandContext): Command {
  return commandOnAccount(context, "stats")
    .option("--days <N>", "number of UTC days, including today", wholeNumber("--days", 1, maxDays), 30)
    .option("--html <FILE>", "write the charts to a web page without personal data or external resources", typedPath)
    .examples("stats acme", "stats acme --days 365", "stats acme --html acme.html", "stats acme --json")
    .action((account: Account, options: StatsOptions) => {
      const { days } = options;
      const todayMs = Math.floor(context.now() / dayMs) * dayMs;
      const period = Array.from({ length: days }, (_, index) => dayOf(todayMs - (days - 1 - index) * dayMs));
      const stats = readStats(context.database().read, account.number, todayMs - (days - 1) * dayMs);
      if (options.html !== undefined) writePage(options.html, { account, period, stats, nowMs: context.now() });
      const written = `The charts are in ${options.html}; open it in a browser.`;
      const text = options.html === undefined ? statsText(account, period, stats) : written;
      context.output.result(view(account, period, stats), text);
    });
}

/** The charts for a terminal. `period` has every day, oldest first. */
function statsText(account: Account, period: readonly string[], stats: Stats): string {
  if (stats.newestMs === null) return `${account.name} has no leads yet.`;
  const inPeriod = sumOf(stats.byDay);
  const span = `${period[0]} to ${period.at(-1)} (UTC)`;
  const newest = inPeriod > 0 ? "" : ` ${adviceFor(stats.newestMs, period.at(-1) ?? "")}`;
  return [
    `${account.name}: ${grouped(inPeriod)} of ${grouped(stats.total)} leads are from ${span}.${newest}`,
    ...chartsOf(period, stats)
      .filter(({ bars }) => inPeriod > 0 || bars.length > 0)
      .map(({ title, bars }) => `${title}\n${bars.length === 0 ? "none" : draw(bars)}`),
  ].join("\n\n");
}

/** Names the newest lead and, if one is long enough, a period that contains it: months of 30 days. */
function adviceFor(newestMs: number, today: string): string {
  const newest = dayOf(newestMs);
  const days = (Date.parse(today) - Date.parse(newest)) / dayMs + 1;
  const advice = days > maxDays ? "" : `; try --days ${Math.ceil(days / 30) * 30}`;
  return `The newest lead is from ${newest}${advice}.`;
}

const maxWidth = 80;
/** A date fits. */
const minLabelWidth = 10;

/** Draws one line for each bar. The longest fills the width; a count above 0 shows at least one character. */
function draw(bars: Chart["bars"]): string {
  const labels = bars.map(({ label }) => printable(label));
  const width = Math.min(columnsOf(process.stdout) ?? maxWidth, maxWidth);
  const maxLabelWidth = Math.max(minLabelWidth, Math.floor(width * 0.3));
  const labelWidth = Math.min(maxLabelWidth, Math.max(...labels.map((label) => Bun.stringWidth(label))));
  const numberWidth = Math.max(...bars.map(({ count }) => grouped(count).length));
  const barWidth = Math.max(1, width - labelWidth - numberWidth - 4);
  const lengths = lengthsOf(bars).map((length) => Math.ceil(length * barWidth));
  const lines = bars.map(({ count }, index) => {
    const number = grouped(count).padStart(numberWidth);
    return `${pad(labels[index] ?? "", labelWidth)}  ${number}  ${"█".repeat(lengths[index] ?? 0)}`.trimEnd();
  });
  return lines.join("\n");
}

/** Writes the whole page or nothing. Throws a UserError if it cannot, or if the file belongs to the database. */
function writePage(file: string, figures: Figures): void {
  const path = readDatabasePath();
  // Copies of the database, from before an upgrade or a restore, begin with its path as well.
  if (resolve(file).startsWith(resolve(path))) {
    throw new UserError(`--html names a file of the database ${path}.`, "Name another file.", 2);
  }
  const draft = `${file}.draft-${process.pid}`;
  try {
    // In a folder that others can write to, the name could be that of a link.
    writeFileSync(draft, statsPage(figures), { flag: "wx" });
    renameSync(draft, file);
  } catch (cause) {
    if (existsSync(draft)) rmSync(draft);
    const advice = "Check that its folder exists, and that this user can write to it.";
    throw new UserError(`${file} cannot be written (${codeOf(cause)}).`, advice);
  }
}

function view(account: Account, period: readonly string[], stats: Stats) {
  const counts = new Map(stats.byDay.map(({ name, count }) => [name, count]));
  const named = (name: string, shares: readonly Share[]) =>
    shares.map((share) => ({ [name]: share.name, leads: share.count }));
  return {
    account: account.id,
    from: period[0],
    to: period.at(-1),
    leads: { all: stats.total, in_period: sumOf(stats.byDay) },
    by_day: period.map((day) => ({ day, leads: counts.get(day) ?? 0 })),
    by_pixel: named("pixel_id", stats.byPixel),
    by_state: named("state", stats.byState),
    by_source: named("traffic_source", stats.bySource),
    requests: stats.requests,
    imports: stats.imports.map(({ number, atMs, imported, late }) => ({
      import: number,
      at: formatTime(atMs),
      imported,
      late,
    })),
  };
}
