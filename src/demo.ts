/** bun run demo: config → database → made-up leads → server, with its own file. */
import { demoText, makeDemo } from "./cli/demo/demo.ts";
import { readDemoConfig } from "./config.ts";
import { openFileDatabase } from "./db/open.ts";
import { importerOn } from "./import/write/import.ts";
import { endWith, writeNow } from "./runtime/process.ts";
import { serve } from "./server/serve.ts";

try {
  const config = readDemoConfig();
  const database = openFileDatabase(config.databasePath);
  const demo = await makeDemo(database, importerOn(database.read), Date.now());
  database.close();
  const running = await serve(config);
  writeNow(1, `listening on ${running.url}\n\n${demoText(demo, running.baseUrl)}\nCtrl-C ends it.\n`);
} catch (cause) {
  endWith(cause);
}
