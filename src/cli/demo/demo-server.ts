/** The server of `bun run demo`, with its own file and made-up leads. */
import { readDemoConfig } from "../../config.ts";
import { openFileDatabase } from "../../db/open.ts";
import { importerOn } from "../../import/write/import.ts";
import { writeNow } from "../../runtime/process.ts";
import { serve } from "../../server/serve.ts";
import type { Installed } from "../command.ts";
import { demoText, makeDemo } from "./demo.ts";

/** Starts the server, and prints what to try. Throws a UserError that says why it cannot. */
export async function startDemo({ serving }: Installed): Promise<void> {
  const config = readDemoConfig();
  const database = openFileDatabase(config.databasePath);
  const demo = await makeDemo(database, importerOn(database.read), Date.now());
  database.close();
  const { url, baseUrl } = await serve(config, await serving(config));
  writeNow(1, `listening on ${url}\n\n${demoText(demo, baseUrl)}\nCtrl-C ends it.\n`);
}
