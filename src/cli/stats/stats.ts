/** bun admin stats: leads by day, pixel, state and source, and requests by key and day, as charts in the terminal. */
import type { Command } from "commander";
import { dayMs, dayOf } from "../contract/time.ts";
import type { Share, Stats } from "../store/admin.ts";
import type { Account } from "../store/repositories.ts";
import { UserError } from "../user-error.ts";
import { accountOf, jsonCommand, outputOf, type Surroundings } from "./command.ts";
import { type Bar, chart } from "./terminal/chart.ts";

const usualDays = 30;
const mostDays = 3_660;
/** More days than this are shown by month. */
const daysShown = 62;
/** Of states, pixels and sources, the largest; the others together. */
const sharesShown = 10;

export function statsCommand(around: Surroundings): Command {
  return jsonCommand("stats")
    .description("leads per day, by pixel, state and source, and requests per key and day")
    .argument("<ACCOUNT>", "id or exact name")
    .option("--days <N>", "how many UTC days back, today included", String(usualDays))
    .action((idOrName: string, options: { days: string; json?: boolean }) => {
      const days = readDays(options.days);
      const account = accountOf(around.store(), idOrName);
      const todayMs = Math.floor(around.now() / dayMs) * dayMs;
      const period = Array.from({ length: days }, (_, place) => dayOf(todayMs - (days - 1 - place) * dayMs));
      const stats = around.store().stats(account.number, todayMs - (days - 1) * dayMs);
      outputOf(options).result(view(account, period, stats), text(account, period, stats));
    });
}

function readDays(option: string): number {
  const days = /^\d{1,4}$/.test(option) ? Number(option) : 0;
  if (days >= 1 && days <= mostDays) return days;
  throw new UserError(`--days takes a whole number from 1 to ${mostDays}.`, "", 2);
}

const sumOf = (shares: readonly Share[]) => shares.reduce((sum, { count }) => sum + count, 0);

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
  };
}

function text(account: Account, period: readonly string[], stats: Stats): string {
  const inPeriod = sumOf(stats.byDay);
  const span = `${period[0]} to ${period.at(-1)} (UTC)`;
  const number = (count: number) => count.toLocaleString("en-US");
  const sections = [
    `${account.name}: ${number(inPeriod)} of ${number(stats.total)} leads came in the days from ${span}.`,
  ];
  if (inPeriod > 0) {
    const read = inPeriod > stats.sourcesRead ? ` (of the newest ${number(stats.sourcesRead)})` : "";
    sections.push(section("Leads per", overTime(period, stats.byDay)));
    sections.push(`Leads by pixel\n${chart(largest(stats.byPixel))}`);
    sections.push(`Leads by state\n${chart(largest(stats.byState))}`);
    sections.push(`Leads by source${read}\n${chart(largest(stats.bySource))}`);
  } else if (stats.total > 0) sections.push("--days N looks further back.");
  else return `${account.name} has no leads yet.`;
  const requests = Map.groupBy(stats.requests, ({ key }) => key);
  for (const [key, rows] of requests) {
    const label = rows[0]?.label ?? null;
    const counts = rows.map(({ day, requests }) => ({ name: day, count: requests }));
    const { unit, bars } = overTime(period, counts);
    sections.push(`Requests of ${key}${label === null ? "" : ` (${label})`} per ${unit}\n${chart(bars)}`);
  }
  if (requests.size === 0) sections.push("No key made a request in these days.");
  return sections.join("\n\n");
}

interface Line {
  readonly unit: "day" | "month";
  readonly bars: readonly Bar[];
}

function section(title: string, { unit, bars }: Line): string {
  return `${title} ${unit}\n${chart(bars)}`;
}

/** A bar for every day of the period, or for every month of a long one, those without anything too. */
function overTime(period: readonly string[], counts: readonly Share[]): Line {
  const unit = period.length > daysShown ? "month" : "day";
  const length = unit === "month" ? "2026-01".length : "2026-01-31".length;
  const sums = new Map(period.map((day) => [day.slice(0, length), 0]));
  for (const { name, count } of counts) {
    const label = (name ?? "").slice(0, length);
    // A lead may be of later than today by the clock of a source.
    sums.set(label, (sums.get(label) ?? 0) + count);
  }
  return { unit, bars: [...sums].map(([label, count]) => ({ label, count })) };
}

function largest(shares: readonly Share[]): Bar[] {
  const bars = shares.map(({ name, count }) => ({ label: name ?? "(none)", count }));
  if (bars.length <= sharesShown) return bars;
  const others = sumOf(shares.slice(sharesShown - 1));
  return [...bars.slice(0, sharesShown - 1), { label: `${bars.length - sharesShown + 1} others`, count: others }];
}
