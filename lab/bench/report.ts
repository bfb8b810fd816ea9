/** The table of a run, for a terminal of 80 columns: the median of the rounds of each server in each scenario. */
import { connections, generator } from "./load.ts";
import type { Sample } from "./measure.ts";

export interface Row {
  readonly scenario: string;
  readonly server: string;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly memoryBytes: number;
  readonly startMs: number;
  /** Requests in all rounds that got no answer or no 200. */
  readonly failed: number;
  /** The requests per second of Leadfile, divided by those of this row. */
  readonly leadfileTimes: number;
  readonly shareOfStatic: number;
}

const widths = [28, 10, 8, 8, 9, 7, 10] as const;

export function report(rows: readonly Row[]): string {
  const lines = [
    `Load by ${generator}, ${connections} connections; medians of the rounds.`,
    "Lf/x: requests per second of Leadfile, divided by those of this row.",
    "",
    line(["", "req/s", "p50 ms", "p99 ms", "memory", "Lf/x", "of static"]),
  ];
  for (const [scenario, those] of Map.groupBy(rows, (row) => row.scenario)) {
    lines.push("", scenario, ...those.map(toLine));
  }
  const starts = Map.groupBy(rows, (row) => row.server);
  const times = [...starts].map(([server, [row]]) => `${server} ${((row?.startMs ?? 0) / 1000).toFixed(2)} s`);
  return [...lines, "", "Start to first answer:", ...times.map((time) => `  ${time}`), ""].join("\n");
}

function toLine(row: Row): string {
  const failed = row.failed === 0 ? "" : `\n    ${row.failed} requests failed`;
  const cells = [
    `  ${row.server}`,
    Math.round(row.requestsPerSecond).toLocaleString("en-US"),
    row.p50Ms.toFixed(2),
    row.p99Ms.toFixed(2),
    `${Math.round(row.memoryBytes / 1e6)} MB`,
    row.leadfileTimes.toFixed(row.leadfileTimes < 10 ? 2 : 0),
    row.shareOfStatic.toFixed(row.shareOfStatic < 0.01 ? 4 : 2),
  ];
  return line(cells) + failed;
}

function line(cells: readonly string[]): string {
  return cells
    .map((cell, place) => (place === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[place] ?? 9)))
    .join("");
}

/** The medians of all rounds, in the order in which they were measured first. */
export function summarise(samples: readonly Sample[]): Row[] {
  const groups = Map.groupBy(samples, ({ scenario, server }) => `${scenario}\n${server}`);
  const medians = [...groups.values()].map((group) => ({
    ...(group[0] as Sample), // A group has one at least.
    requestsPerSecond: median(group.map((sample) => sample.requestsPerSecond)),
    p50Ms: median(group.map((sample) => sample.p50Ms)),
    p99Ms: median(group.map((sample) => sample.p99Ms)),
    memoryBytes: median(group.map((sample) => sample.memoryBytes)),
    startMs: median(group.map((sample) => sample.startMs)),
    failed: group.reduce((sum, sample) => sum + sample.failed, 0),
  }));
  const speedOf = (scenario: string, server: string) =>
    medians.find((row) => row.scenario === scenario && row.server === server)?.requestsPerSecond ?? Number.NaN;
  return medians.map((row) => ({
    ...row,
    leadfileTimes: speedOf(row.scenario, "Leadfile") / row.requestsPerSecond,
    shareOfStatic: row.requestsPerSecond / speedOf(row.scenario, "static bytes"),
  }));
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
