/** The measurement: every server in turn, in several rounds, so that what disturbs the machine disturbs all alike. */
import { join } from "node:path";
import { createProgress } from "../progress.ts";
import type { BenchData } from "./data.ts";
import { duringImport } from "./during-import.ts";
import { yearMs, yearStartMs } from "./leads.ts";
import { type Measured, putLoad } from "./load.ts";
import type { Options } from "./options.ts";
import { type Scenario, scenarios, special } from "./scenarios.ts";
import { type Contestant, leadfile, staticServer } from "./servers/contestants.ts";
import { ask } from "./servers/server.ts";
import { serving, type Take } from "./servers/serving.ts";

/** One server in one scenario of one round. */
export interface Sample extends Measured {
  readonly scenario: string;
  readonly server: string;
  readonly memoryBytes: number;
  readonly startMs: number;
}

export async function measure(options: Options, data: BenchData, peers: readonly Contestant[]): Promise<Sample[]> {
  const samples: Sample[] = [];
  let seed = 0;
  const take: Take = async (server, title, scenario, load = {}) => {
    const { target, varied, name } = scenario;
    const asked = { url: server.url, target, varied, key: data.key, seconds: options.seconds, ...load };
    seed += 1;
    // What is measured is a server that has run for a while: compiled, with warm caches.
    await putLoad({ ...asked, seconds: 1, seed: 1_000_000 + seed });
    const measured = await putLoad({ ...asked, seed });
    const memoryBytes = await server.memory();
    samples.push({ scenario: name, server: title, ...measured, memoryBytes, startMs: server.startMs });
  };
  const bodies = await keepBodies(data);
  for (let round = 1; round <= options.rounds; round++) {
    await compareAll(`Round ${round} of ${options.rounds}`);
    if (options.import) await duringImport(data, take);
  }
  return samples;

  async function compareAll(what: string): Promise<void> {
    const contestants = [
      ...bodies.map((body, place) => ({ contestant: staticServer(body), asked: scenarios.slice(place, place + 1) })),
      { contestant: leadfile(data.leadfile, "warn"), asked: scenarios },
      { contestant: leadfile(data.leadfile, "info"), asked: special },
      ...peers.map((contestant) => ({ contestant, asked: scenarios })),
    ];
    const progress = createProgress(what, contestants.flatMap(({ asked }) => asked).length);
    const before = samples.length;
    try {
      for (const { contestant, asked } of contestants) {
        await takeAll(contestant, asked);
        progress.update(samples.length - before);
      }
    } finally {
      progress.stop();
    }
  }

  async function takeAll(contestant: Contestant, asked: readonly Scenario[]): Promise<void> {
    await serving(contestant, data, async (server) => {
      for (const scenario of asked) await take(server, contestant.title, scenario);
    });
  }
}

/** Stores the answer of Leadfile to each scenario as a file for the static server. */
async function keepBodies(data: BenchData): Promise<string[]> {
  const paths = scenarios.map((_, place) => join(data.folder, `body-${place}.json`));
  await serving(leadfile(data.leadfile, "warn"), data, async ({ url }) => {
    for (const [place, { target, varied }] of scenarios.entries()) {
      const middle = `before=${new Date(yearStartMs + yearMs / 2).toISOString()}`;
      const asked = varied ? `${target}${target.includes("?") ? "&" : "?"}${middle}` : target;
      await Bun.write(paths[place] ?? "", await (await ask(url, asked, data.key)).bytes());
    }
  });
  return paths;
}
