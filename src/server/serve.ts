/** Starts the server: store, limiter, app, and listener. Stops them in order. */

import { X509Certificate } from "node:crypto";
import { resolve } from "node:path";
import { type AppParts, createApp } from "../api/app.ts";
import { createLimiter } from "../api/limiter.ts";
import { type Config, readConfig, refuseSecondDatabase } from "../config.ts";
import { freeBytesAt } from "../db/database-files.ts";
import { openLog } from "../runtime/log.ts";
import { exitBecause, printMessage, writeNow } from "../runtime/process.ts";
import { adminCommand } from "../runtime/program-name.ts";
import { statusOfService, stopSignal } from "../runtime/signals.ts";
import { startChild } from "./child-process.ts";
import { startDailyRetention } from "./daily-retention.ts";
import { listeningFailure, publicOrigin, warnOfCertificate, warnOfPlainHttp } from "./listen-address.ts";
import { type Address, type Listener, startListener } from "./listener.ts";
import { openServedStore, reserveBytes, type ServedStore } from "./store.ts";
import { startUsageWriter } from "./usage-writer.ts";

/** The parts of a server that extensions provide. */
export interface ServingParts {
  /** The arguments of each command that runs in a separate process: neither an import nor a backup delays a request. */
  readonly children: readonly (readonly string[])[];
  /** The pending deliveries, for the metrics; null if there are none. */
  readonly inflow: AppParts["inflow"];
  /** The store of a server in a cluster; null if the server has its own file. */
  readonly store: ServedStore | null;
}

/** Starts the server, and prints where it listens. Throws a UserError that says why it cannot. */
export async function startServer(openParts: (config: Config) => Promise<ServingParts>): Promise<void> {
  const config = readConfig();
  refuseSecondDatabase(config.databasePath);
  const { url, isEmpty } = await serve(config, await openParts(config));
  writeNow(1, `listening on ${url}\n`);
  if (isEmpty) {
    const advice = `In another terminal: ${adminCommand} account create NAME, then ${adminCommand} --help.`;
    printMessage(`There is no account in ${resolve(config.databasePath)} yet. ${advice}`);
  }
}

/** Starts to serve, and stops in order at the first signal that asks for it. Throws a UserError that says why it cannot. */
export async function serve(config: Config, parts: ServingParts) {
  const log = openLog(config.logLevel);
  const { databasePath, disclosures } = config;
  const store = parts.store ?? openServedStore(databasePath, disclosures);
  if (freeBytesAt(databasePath) < reserveBytes) {
    log.warn("the disk is full: requests are served, and their counts are kept in memory until there is space");
  }
  // A cluster begins with the file of a server.
  const isEmpty = parts.store === null && !store.probe();
  const originAt = (port: number) => publicOrigin({ ...config, port });
  const listening = startListening(config, store, (port) => ({
    store,
    limiter: createLimiter(config.rateLimitPerMin),
    log,
    now: store.now ?? Date.now,
    baseUrl: originAt(port),
    trustProxy: config.trustProxy,
    publicMetrics: config.publicMetrics,
    metricsToken: config.metricsToken,
    certificateEndsMs: config.tls === null ? null : Date.parse(new X509Certificate(config.tls.cert).validTo),
    inflow: parts.inflow,
  }));
  warnOfPlainHttp(config, "API keys");
  warnOfCertificate(config.tls, Date.now());
  const stopTimers = [startUsageWriter(store, log), startDailyRetention(store, log)];
  const children = parts.children.map((words) => startChild(words, (line) => log.error(line)));
  const stop = stopSignal();
  stop.addEventListener("abort", async () => {
    for (const stopTimer of stopTimers) stopTimer();
    await Promise.all([...children.map((child) => child.stop()), listening.stop()]);
    try {
      await store.close();
    } catch (cause) {
      exitBecause(cause);
    }
    process.exit(statusOfService(stop.reason));
  });
  store.listening(listening.url).catch(exitBecause);
  return {
    /** The address that the server listens on. */
    url: listening.url,
    /** The public origin, with which links begin. */
    baseUrl: originAt(listening.port),
    /** True if there is no account yet. */
    isEmpty,
  };
}

function startListening(config: Config, store: ServedStore, partsFor: (port: number) => AppParts): Listener {
  try {
    return listen(config, partsFor);
  } catch (cause) {
    void store.close();
    throw listeningFailure(cause, config);
  }
}

/** Listens on an address and serves the app. Throws the error of Bun if the port is in use. */
export function listen(address: Address, partsFor: (port: number) => AppParts, lastCallMs?: number): Listener {
  return startListener(address, {
    serviceOn(server) {
      const app = createApp(partsFor(server.port ?? address.port), server);
      return { answer: (request) => app.fetch(request), paths: app.routes.map(({ path }) => path) };
    },
    // Bodies are never read: a request with a body gets 405, whatever its size.
    maxBodyBytes: Number.MAX_SAFE_INTEGER,
    lastCallMs,
  });
}
