/** The charts of an account as an HTML page without personal data. */
import base from "../../api/docs/base.css" with { type: "text" };
import { writeMoment } from "../../contract/time.ts";
import type { Account } from "../../db/accounts.ts";
import type { Share, Stats } from "../../db/stats.ts";
import { grouped } from "../terminal/numbers.ts";
import { type Chart, leadCharts, lengthsOf, requestCharts, sumOf } from "./charts.ts";
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
  const shown = { ...stats, bySource: withoutPersons(stats.bySource) };
  const charts = [...leadCharts(period, shown), ...requestCharts(period, stats)];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${name}: leads and requests</title>
<style>${base}${css}</style>
</head>
<body>
<header>
<h1>${name}</h1>
<p><strong>${grouped(sumOf(stats.byDay))}</strong> of ${grouped(stats.total)} leads are from ${span}.</p>
</header>
<main>
${[...charts.map(chartFigure), importsFigure(stats.imports)].join("\n")}
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

/** A table with a bar in each row. */
function chartFigure({ title, label, bars, nothing }: Chart): string {
  if (bars.length === 0) return figure(title, `<p>${nothing}</p>`);
  const rows = bars.map(({ label, count }) => [label, grouped(count)]);
  return figure(title, table([label, "count"], rows, lengthsOf(bars)));
}

function importsFigure(imports: Stats["imports"]): string {
  if (imports.length === 0) return figure("Imports", "<p>Nothing was imported in these days.</p>");
  const rows = imports.map(({ number, atMs, imported, late }) => {
    return [String(number), writeMoment(atMs).slice(0, 16).replace("T", " "), grouped(imported), grouped(late)];
  });
  const late = "<p>A late lead was older than the newest one: clients that poll have passed it.</p>";
  return figure("Imports", `${table(["import", "at (UTC)", "leads", "late leads"], rows)}${late}`);
}

/** A figure with a heading, by which a screen reader goes from figure to figure. */
function figure(title: string, content: string): string {
  return `<figure><figcaption><h2>${Bun.escapeHTML(title)}</h2></figcaption>${content}</figure>`;
}

/** A table. The length of the bar in a row is from 0 to 1. */
function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  lengths: readonly number[] = [],
): string {
  const titles = header.map((title) => `<th scope="col">${title}</th>`).join("");
  const body = rows.map((row, place) => {
    const cells = row.map((cell) => `<td>${Bun.escapeHTML(cell)}</td>`).join("");
    return `<tr style="--bar:${100 * (lengths[place] ?? 0)}%">${cells}</tr>`;
  });
  return `<table><thead><tr>${titles}</tr></thead><tbody>\n${body.join("\n")}\n</tbody></table>`;
}
