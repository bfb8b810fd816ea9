/** The measurement: every server in turn, in several rounds, so that what disturbs the machine disturbs all alike. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { note } from "../progress.ts";
import { type BenchData, removeDatabase, spawnImport } from "./data.ts";
import { writeCsv, yearMs, yearStartMs } from "./leads.ts";
import { ask, type Contestant, hono, leadfile, serving, staticServer } from "./servers.ts";

export interface Options {
  readonly leads: number;
  readonly rounds: number;
  /** The length of each measurement. */
  readonly seconds: number;
  /** True to measure also during an import by another process. */
  readonly import?: true;
}

interface Scenario {
  readonly name: string;
  /** Path and query. */
  readonly target: string;
  /** True if each request asks for another place in the year, so that no answer is repeated. */
  readonly isVaried: boolean;
}

const leads = "/api/v1/leads";

const scenarios: readonly Scenario[] = [
  { name: "first page, repeated", target: leads, isVaried: false },
  { name: "random pages of the year", target: leads, isVaried: true },
  { name: "state and city without leads", target: `${leads}?state=CA&city=Miami`, isVaried: true },
];

/** One server in one scenario of one round. */
export interface Sample {
  readonly scenario: string;
  readonly server: string;
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

export const connections = 16;

export async function measure(options: Options, data: BenchData): Promise<Sample[]> {
  const samples: Sample[] = [];
  const take = (contestant: Contestant, asked = scenarios) =>
    serving(contestant, async (url) => {
      for (const scenario of asked) {
        // What is measured is a server that has run for a while: compiled, with warm caches.
        await putLoad(url, scenario, data.key, 1, 1_000_000 + samples.length);
        const measured = await putLoad(url, scenario, data.key, options.seconds, samples.length);
        samples.push({ scenario: scenario.name, server: contestant.title, ...measured });
      }
    });
  const bodies = await keepBodies(data);
  for (let round = 1; round <= options.rounds; round++) {
    note(`Round ${round} of ${options.rounds}.`);
    for (const [place, body] of bodies.entries()) await take(staticServer(body), scenarios.slice(place, place + 1));
    await take(leadfile(data.leadfile));
    await take(hono(data.relational));
    if (options.import) await duringImport(data, take);
  }
  return samples;
}

/** Stores the answer of Leadfile to each scenario as a file for the static server. */
function keepBodies(data: BenchData): Promise<string[]> {
  const middle = `before=${new Date(yearStartMs + yearMs / 2).toISOString()}`;
  return serving(leadfile(data.leadfile), (url) =>
    Promise.all(
      scenarios.map(async ({ target, isVaried }, place) => {
        const path = join(data.folder, `body-${place}.json`);
        const asked = isVaried ? `${target}${target.includes("?") ? "&" : "?"}${middle}` : target;
        await Bun.write(path, await (await ask(url, asked, data.key)).bytes());
        return path;
      }),
    ),
  );
}

/** Serves a copy of the file while the admin command imports leads of the next year into it. */
async function duringImport({ folder, leads, leadfile: file }: BenchData, take: (of: Contestant) => Promise<void>) {
  const [path, source] = [join(folder, "importing.db"), join(folder, "next-year.csv")];
  removeDatabase(path);
  copyFileSync(file, path);
  await writeCsv(source, leads, 2 * leads, leads);
  const running = spawnImport(path, source);
  await take(leadfile(path, "Leadfile, during import"));
  if (running.exitCode !== null) note("The import was over before the measurement; its figures are too good.");
  running.kill("SIGKILL");
  await running.exited;
  removeDatabase(path);
}

/** Puts a load on a server with wrk. Throws if a request failed. */
async function putLoad(url: string, { target, isVaried }: Scenario, key: string, seconds: number, seed: number) {
  // One thread: a second one would take the processor from the server where there are two.
  const options = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "10s", "--latency"];
  const script = ["-s", join(import.meta.dir, "wrk.lua"), "-H", `Authorization: Bearer ${key}`, url + target, "--"];
  const places = isVaried ? ["varied", yearStartMs, yearMs, seed] : ["fixed"];
  const output = await Bun.$`wrk ${options} ${script} ${places}`.text();
  const result = JSON.parse(/^RESULT (.+)$/m.exec(output)?.[1] ?? "{}");
  if (result.failed !== 0) throw new Error(`requests failed: ${output}`);
  return { requestsPerSecond: Number(result.requests / result.seconds), p99Ms: Number(result.p99Ms) };
}
