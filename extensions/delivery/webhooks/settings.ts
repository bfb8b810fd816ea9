/** What `receive` runs with: the settings of the server, at an address of its own. */

import { startCompanion } from "../../../src/companion.ts";
import { readConfig, receiveOrigin } from "../../../src/config.ts";
import { warnOfPlainHttp } from "../../../src/listening.ts";
import { openLog } from "../../../src/log.ts";

/** Opens the log too. Warns where tokens would cross the network in the clear. */
export function openReceiving() {
  const config = readConfig();
  const { receiveHost: host, receivePort: port, tls, trustProxy, logLevel } = config;
  const log = openLog(logLevel);
  warnOfPlainHttp({ host, tls, trustProxy }, "tokens of sources");
  return {
    address: { host, port, tls },
    baseUrl: receiveOrigin(config),
    trustProxy,
    log,
    startCompanion: (args: readonly string[]) => startCompanion(args, (line) => log.error(line)),
  };
}
