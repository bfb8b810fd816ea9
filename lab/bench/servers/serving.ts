/** A server that runs while it is measured, and what takes a measurement of it. */

import type { BenchData } from "../data.ts";
import type { putLoad } from "../load.ts";
import type { Scenario } from "../scenarios.ts";
import type { Contestant } from "./contestants.ts";
import { type Server, start } from "./server.ts";

type Load = Parameters<typeof putLoad>[0];

/** Takes one measurement, under a load that may differ from the usual one. */
export type Take = (server: Server, title: string, scenario: Scenario, load?: Partial<Load>) => Promise<void>;
/** Runs a contestant for as long as the work takes. */
export async function serving(
  contestant: Contestant,
  { key }: Pick<BenchData, "key">,
  work: (server: Server) => Promise<void>,
): Promise<void> {
  await readThrough(contestant.settings["DATABASE_PATH"]);
  const server = await start(contestant, key);
  try {
    await work(server);
  } finally {
    await server.stop();
  }
}

/** Brings a file into the memory of the system, in turn with the others: the disk is not what is compared. */
async function readThrough(path: string | undefined): Promise<void> {
  if (path === undefined) return;
  for await (const _ of Bun.file(path).stream());
}
