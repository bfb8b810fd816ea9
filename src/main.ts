/** bun start: config → store → server → stop. */
import { resolve } from "node:path";
import { readConfig, refuseSecondDatabase } from "./config.ts";
import { endWith, printMessage, writeNow } from "./runtime/process.ts";
import { adminCommand } from "./runtime/program-name.ts";
import { serve } from "./server/serve.ts";

try {
  const config = readConfig();
  refuseSecondDatabase(config.databasePath);
  const { url, isEmpty } = await serve(config);
  writeNow(1, `listening on ${url}\n`);
  if (isEmpty) {
    const advice = `In another terminal: ${adminCommand} account create NAME, then ${adminCommand} --help.`;
    printMessage(`There is no account in ${resolve(config.databasePath)} yet. ${advice}`);
  }
} catch (cause) {
  endWith(cause);
}
