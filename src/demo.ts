/** bun run demo: config → database → made-up leads → server, with its own file. */
import { demoText, makeDemo } from "./cli/demo/demo.ts";
import { readDemoConfig } from "./config.ts";
import { openFileDatabase } from "./db/open.ts";
import { loadExtension } from "./extensions.ts";
import { importerOn } from "./import/write/import.ts";
import { endWith, writeNow } from "./process.ts";
import { serve } from "./serve.ts";
import { UserError } from "./user-error.ts";

try {
  if (process.argv.includes("--cluster")) await demoCluster();
  else await demoAlone();
} catch (cause) {
  endWith(cause);
}

/** Throws a UserError if the extension for clusters is absent. */
async function demoCluster(): Promise<void> {
  const demo = (await loadExtension("cluster"))?.demo;
  if (demo !== undefined) return demo();
  throw new UserError("This installation has no extension for clusters.", "Run bun run demo, without --cluster.", 2);
}

async function demoAlone(): Promise<void> {
  const config = readDemoConfig();
  const database = openFileDatabase(config.databasePath);
  const demo = await makeDemo(database, importerOn(database.read), Date.now());
  database.close();
  const running = await serve(config);
  writeNow(1, `listening on ${running.url}\n\n${demoText(demo, running.baseUrl)}\nCtrl-C ends it.\n`);
}
