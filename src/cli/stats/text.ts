/** The figures of an account as charts for a terminal. */

import { dayMs, dayOf } from "../../contract/calendar.ts";
import type { Account } from "../../db/accounts.ts";
import type { Stats } from "../../db/stats.ts";
import { chart } from "../terminal/chart.ts";
import { grouped } from "../terminal/numbers.ts";
import { largest, maxDays, overTime, sumOf, type Timeline } from "./periods.ts";

/** All of it for a terminal; `period` has every day that is looked at, oldest first. */
export function statsText(account: Account, period: readonly string[], stats: Stats): string {
  const inPeriod = sumOf(stats.byDay);
  const span = `${period[0]} to ${period.at(-1)} (UTC)`;
  const sections = [`${account.name}: ${grouped(inPeriod)} of ${grouped(stats.total)} leads are from ${span}.`];
  if (inPeriod > 0) {
    sections.push(timeline("Leads", overTime(period, stats.byDay)));
    sections.push(`Leads by pixel\n${chart(largest(stats.byPixel))}`);
    sections.push(`Leads by state\n${chart(largest(stats.byState))}`);
    sections.push(`Leads by source\n${chart(largest(stats.bySource))}`);
  } else if (stats.newestMs !== null) sections.push(adviceFor(stats.newestMs, period.at(-1) ?? ""));
  else return `${account.name} has no leads yet.`;
  const requests = Map.groupBy(stats.requests, ({ key }) => key);
  for (const [key, rows] of requests) {
    const label = rows[0]?.label ?? null;
    const counts = rows.map(({ day, requests }) => ({ name: day, count: requests }));
    sections.push(timeline(`Requests of ${key}${label === null ? "" : ` (${label})`}`, overTime(period, counts)));
  }
  if (requests.size === 0) sections.push("No key made a request in these days.");
  return sections.join("\n\n");
}

/** Names the newest lead and, if one is long enough, a period that contains it: months of 30 days. */
function adviceFor(newestMs: number, today: string): string {
  const newest = dayOf(newestMs);
  const days = (Date.parse(today) - Date.parse(newest)) / dayMs + 1;
  const advice = days > maxDays ? "" : `; try --days ${Math.ceil(days / 30) * 30}`;
  return `The newest lead is from ${newest}${advice}.`;
}

/** Begins with the first day that has a count: lines without bars would push all else off the screen. */
function timeline(title: string, { unit, bars }: Timeline): string {
  return `${title} per ${unit}\n${chart(bars.slice(bars.findIndex(({ count }) => count > 0)))}`;
}
