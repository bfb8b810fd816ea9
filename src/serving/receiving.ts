/** What `receive` runs with: the settings of the server, at an address of its own. */
import { startCompanion } from "../companion.ts";
import { isInTheClear, receiveOrigin } from "../config/origin.ts";
import { readConfig } from "../config.ts";
import { openLog } from "../operator/log.ts";

/** Opens the log too. Warns where tokens would cross the network in the clear. */
export function openReceiving() {
  const config = readConfig();
  const { receiveHost: host, receivePort: port, tls, trustProxy, logLevel } = config;
  const log = openLog(logLevel);
  if (isInTheClear({ host, tls, trustProxy })) {
    process.stderr.write(
      `Warning: ${host} can be reached from other machines without TLS, and tokens of sources would cross the network in ` +
        "the clear. Set TLS_CERT and TLS_KEY, or TRUST_PROXY=1 behind a proxy that gives TLS.\n",
    );
  }
  return {
    address: { host, port, tls },
    baseUrl: receiveOrigin(config),
    trustProxy,
    log,
    startCompanion: (args: readonly string[]) => startCompanion(args, (line) => log.error(line)),
  };
}
