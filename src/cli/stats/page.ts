/** The figures of an account as an HTML page without personal data: charts, and a table for each. */
import { writeMoment } from "../../contract/time.ts";
import type { Account } from "../../db/accounts.ts";
import type { Share, Stats } from "../../db/stats.ts";
import { grouped } from "../terminal/numbers.ts";
import { type Bar, largest, maxCount, overTime, sumOf } from "./bars.ts";
import css from "./page.css" with { type: "text" };

export interface Figures {
  readonly account: Account;
  /** Every day of the period, oldest first. */
  readonly period: readonly string[];
  readonly stats: Stats;
  readonly nowMs: number;
}

/** Returns the page. It contains its style and its charts, and loads nothing. */
export function statsPage({ account, period, stats, nowMs }: Figures): string {
  const name = Bun.escapeHTML(account.name);
  const span = `${period[0]} to ${period.at(-1)} (UTC)`;
  const figures = [
    figureOverTime("Leads", period, stats.byDay),
    ranking("pixel", stats.byPixel),
    ranking("state", stats.byState),
    ranking("source", withoutPersons(stats.bySource)),
    ...requestFigures(period, stats),
    importsFigure(stats.imports),
  ];
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
<p><strong>${grouped(sumOf(stats.byDay))}</strong> of ${grouped(stats.total)} leads are from ${span}.</p>
</header>
<main>
${figures.join("\n")}
</main>
<footer>Made by Leadfile at ${writeMoment(nowMs).slice(0, 16).replace("T", " ")} UTC.</footer>
</body>
</html>
`;
}

/** Groups the sources by what is left of them without persons. */
function withoutPersons(sources: readonly Share[]): Share[] {
  const shown = Map.groupBy(sources, ({ name }) => (name === null ? null : withoutPerson(name)));
  return [...shown]
    .map(([name, shares]) => ({ name, count: sumOf(shares) }))
    .toSorted((one, other) => other.count - one.count);
}

/** Visitors may write long texts; the search for persons in them would take the square of their length. */
const maxSourceLength = 2_000;

/** Removes the query, email addresses, and phone numbers from a source, also if they are percent-encoded. */
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
  if (byKey.length === 0) return [figure("Requests", "<p>No key made a request in these days.</p>")];
  return byKey.map(([key, rows]) => {
    const counts = rows.map(({ day, requests }) => ({ name: day, count: requests }));
    return figureOverTime(`Requests of ${rows[0]?.label ?? key}`, period, counts);
  });
}

/** A vertical bar for each day or month. Screen readers get the table. */
function figureOverTime(what: string, period: readonly string[], counts: readonly Share[]): string {
  const { unit, bars } = overTime(period, counts);
  const max = maxCount(bars);
  const title = `${what} per ${unit}`;
  if (max === 0) return figure(title, `<p>No ${what === "Leads" ? "leads" : "requests"} came in these days.</p>`);
  const columns = bars.map(({ count }) => `<i style="height:${(100 * count) / max}%"></i>`).join("");
  const axis = `<p class="axis"><span>${bars[0]?.label}</span><span>${bars.at(-1)?.label}</span></p>`;
  const drawn = `<div aria-hidden="true"><p>${grouped(max)}</p><div class="columns">${columns}</div>${axis}</div>`;
  return figure(
    title,
    `${drawn}<details><summary>As a table</summary>${table([unit, "count"], rowsOf(bars))}</details>`,
  );
}

/** A table with a horizontal bar behind each name. */
function ranking(what: string, shares: readonly Share[]): string {
  const bars = largest(shares);
  const max = maxCount(bars);
  const title = `Leads by ${what}`;
  if (max === 0) return figure(title, "<p>No leads came in these days.</p>");
  return figure(
    title,
    table([what, "leads"], rowsOf(bars), (row) => (bars[row]?.isSum ? 0 : (bars[row]?.count ?? 0) / max)),
  );
}

function importsFigure(imports: Stats["imports"]): string {
  if (imports.length === 0) return figure("Imports", "<p>Nothing was imported in these days.</p>");
  const rows = imports.map(({ number, atMs, imported, late }) => {
    return [String(number), writeMoment(atMs).slice(0, 16).replace("T", " "), grouped(imported), grouped(late)];
  });
  const late = "<p>A late lead was older than the newest one: clients that poll have passed it.</p>";
  return figure("Imports", `${table(["import", "at (UTC)", "leads", "late leads"], rows)}${late}`, "wide");
}

/** A figure with a heading, by which a screen reader goes from figure to figure. */
function figure(title: string, content: string, style = ""): string {
  return `<figure class="${style}"><figcaption><h2>${Bun.escapeHTML(title)}</h2></figcaption>${content}</figure>`;
}

function rowsOf(bars: readonly Bar[]): string[][] {
  return bars.map(({ label, count }) => [label, grouped(count)]);
}

/** A table. The share of a row, from 0 to 1, is the length of the bar behind it. */
function table(header: readonly string[], rows: readonly (readonly string[])[], shareOf = (_row: number) => 0): string {
  const titles = header.map((title) => `<th scope="col">${Bun.escapeHTML(title)}</th>`).join("");
  const body = rows.map((row, place) => {
    const cells = row.map((cell) => `<td>${Bun.escapeHTML(cell)}</td>`).join("");
    return `<tr style="--share:${100 * shareOf(place)}%">${cells}</tr>`;
  });
  return `<table><thead><tr>${titles}</tr></thead><tbody>\n${body.join("\n")}\n</tbody></table>`;
}
