/** bun run demo: config → store → made-up leads → server, on a file of its own. */

import { demoCluster } from "../extensions/cluster/demo.ts";
import { demoText, makeDemo } from "./cli/demo/demo.ts";
import { readDemoConfig } from "./config.ts";
import { openAdminStore } from "./db/admin-store.ts";
import { endWith } from "./operator/end.ts";
import { writeNow } from "./operator/standard-streams.ts";
import { serve } from "./serving/serve.ts";

try {
  if (process.argv.includes("--cluster")) await demoCluster();
  else demoAlone();
} catch (cause) {
  endWith(cause);
}

function demoAlone(): void {
  const config = readDemoConfig();
  const store = openAdminStore(config.databasePath);
  const demo = makeDemo(store, Date.now());
  store.close();
  const running = serve(config);
  writeNow(1, `listening on ${running.url}\n\n${demoText(demo, running.baseUrl)}\nCtrl-C ends it.\n`);
}
