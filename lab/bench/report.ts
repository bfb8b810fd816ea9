/** The table of a run: the median of the rounds of each server in each scenario. */
import { median } from "../quantile.ts";
import { connections, type Sample } from "./measure.ts";

export function report(samples: readonly Sample[]): string {
  const lines = [
    `Load by wrk, ${connections} connections; medians of the rounds.`,
    line("", "req/s", "p99 ms", "Leadfile/x"),
  ];
  for (const [scenario, all] of Map.groupBy(samples, (sample) => sample.scenario)) {
    const servers = Map.groupBy(all, ({ server }) => server);
    const speedOf = (server: string) => median((servers.get(server) ?? []).map((sample) => sample.requestsPerSecond));
    lines.push("", scenario);
    for (const [server, rounds] of servers) {
      const p99Ms = median(rounds.map((sample) => sample.p99Ms)).toFixed(2);
      const times = (speedOf("Leadfile") / speedOf(server)).toFixed(2);
      lines.push(line(`  ${server}`, Math.round(speedOf(server)).toLocaleString("en-US"), p99Ms, times));
    }
  }
  return `${lines.join("\n")}\n`;
}

/** A line of a table: a title, and right-aligned cells. */
export function line(title: string, ...cells: readonly string[]): string {
  return title.padEnd(32) + cells.map((cell) => cell.padStart(12)).join("");
}
