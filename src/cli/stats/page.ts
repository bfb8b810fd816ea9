/** The figures of an account as one page of HTML, without personal data: charts, each with its table. */
import { writeMoment } from "../../contract/time.ts";
import type { Account } from "../../db/accounts.ts";
import type { Share, Stats } from "../../db/stats.ts";
import type { Bar } from "../terminal/chart.ts";
import { grouped } from "../terminal/numbers.ts";
import { type Draw, drawOverTime, drawRanking } from "./charts.ts";
import css from "./page.css" with { type: "text" };
import { largest, overTime, sumOf } from "./periods.ts";

export interface Figures {
  readonly account: Account;
  /** Every day that is looked at, oldest first. */
  readonly period: readonly string[];
  readonly stats: Stats;
  readonly nowMs: number;
}

/** The page. It loads nothing: its style and its charts are in it. */
export function statsPage({ account, period, stats, nowMs }: Figures): string {
  const name = Bun.escapeHTML(account.name);
  const inPeriod = sumOf(stats.byDay);
  const span = `${period[0]} to ${period.at(-1)} (UTC)`;
  const figures = [...leadFigures(period, stats), ...requestFigures(period, stats)];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${name}: leads and requests</title>
<style>${css}</style>
</head>
<body>
<header>
<h1>${name}</h1>
<p><strong>${grouped(inPeriod)}</strong> of ${grouped(stats.total)} leads are from ${span}.</p>
</header>
<main>
${figures.join("\n")}
${importsTable(stats.imports)}
</main>
<footer>Made by Leadfile at ${writeMoment(nowMs).slice(0, 16).replace("T", " ")} UTC.</footer>
</body>
</html>
`;
}

function leadFigures(period: readonly string[], stats: Stats): string[] {
  const { unit, bars } = overTime(period, stats.byDay);
  return [
    figure(`Leads per ${unit}`, drawOverTime, unit, "leads", bars),
    figure("Leads by pixel", drawRanking, "pixel", "leads", largest(stats.byPixel)),
    figure("Leads by state", drawRanking, "state", "leads", largest(stats.byState)),
    figure("Leads by source", drawRanking, "source", "leads", largest(withoutPersons(stats.bySource))),
  ];
}

/** A source may be an address that names a person, as text or in its query. */
function withoutPersons(sources: readonly Share[]): Share[] {
  const shown = Map.groupBy(sources, ({ name }) => (name === null ? null : withoutPerson(name)));
  return [...shown]
    .map(([name, shares]) => ({ name, count: sumOf(shares) }))
    .toSorted((one, other) => other.count - one.count);
}

/** Visitors may write long texts; a search for persons in them would take the square of their length. */
const maxSourceLength = 2_000;

/** The source without a query and without e-mail addresses and phone numbers, also if it is percent-encoded. */
function withoutPerson(source: string): string {
  const [address = ""] = source.includes("://") ? source.split(/[?#]/, 1) : [source];
  return decoded(address.slice(0, maxSourceLength).replace(/^([a-z][a-z0-9+.-]*:)?\/\/[^/]*@/i, "$1//"))
    .replace(/[^\s/@"'<>:;,?&=#]+@[^\s/@"'<>:;,?&=#]+/gu, "…@…")
    .replace(/\+?\d(?:[\s().-]{0,2}\d){9,}/g, "…");
}

/** Decodes until nothing is encoded any more; a text that cannot be decoded stays. */
function decoded(text: string): string {
  try {
    const once = decodeURIComponent(text);
    return once === text ? text : decoded(once);
  } catch {
    return text;
  }
}

function requestFigures(period: readonly string[], { requests }: Stats): string[] {
  const byKey = [...Map.groupBy(requests, ({ key }) => key)];
  if (byKey.length === 0) return [empty("Requests", "No key made a request in these days.")];
  return byKey.map(([key, rows]) => {
    const label = rows[0]?.label ?? key;
    const { unit, bars } = overTime(
      period,
      rows.map(({ day, requests }) => ({ name: day, count: requests })),
    );
    return figure(`Requests of ${label} per ${unit}`, drawOverTime, unit, "requests", bars);
  });
}

function figure(title: string, draw: Draw, what: string, counted: string, bars: readonly Bar[]): string {
  const single = bars.filter(({ isSum }) => !isSum);
  const most = single.reduce((best, bar) => (bar.count > best.count ? bar : best), { label: "", count: 0 });
  // A chart of nothing but zeros would show bars as high as it is.
  if (most.count === 0) return empty(title, `No ${counted} came in these days.`);
  const summary = `${title}; most: ${most.label} with ${grouped(most.count)}`;
  const rows = bars.map(({ label, count }) => [label, grouped(count)]);
  return `<figure>
${caption(title)}
<div role="img" aria-label="${Bun.escapeHTML(summary)}">${draw(bars)}</div>
<details><summary>As a table</summary>${table([what, counted], rows)}</details>
</figure>`;
}

function empty(title: string, text: string): string {
  return `<figure>${caption(title)}<p>${text}</p></figure>`;
}

/** A heading, by which a screen reader goes from figure to figure. */
function caption(title: string): string {
  return `<figcaption><h2>${Bun.escapeHTML(title)}</h2></figcaption>`;
}

function importsTable(imports: Stats["imports"]): string {
  if (imports.length === 0) return empty("Imports", "Nothing was imported in these days.");
  const rows = imports.map((one) => [
    String(one.number),
    writeMoment(one.atMs).slice(0, 16).replace("T", " "),
    grouped(one.imported),
    grouped(one.late),
  ]);
  return `<figure class="wide">${caption("Imports")}
${table(["Import", "At (UTC)", "Leads", "Of these late"], rows)}
<p>Late is a lead that was older than the newest one: clients that poll have passed it.</p></figure>`;
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[], start: string, end: string) =>
    `<tr>${cells.map((cell) => `${start}${Bun.escapeHTML(cell)}${end}`).join("")}</tr>`;
  const body = rows.map((row) => line(row, "<td>", "</td>")).join("\n");
  return `<table><thead>${line(header, '<th scope="col">', "</th>")}</thead><tbody>\n${body}\n</tbody></table>`;
}
