/** The running server: store, limiter, app and listener put together, and taken apart in order. */
import { statSync } from "node:fs";
import type { Logger } from "pino";
import { readBacklog } from "../../extensions/delivery/inbox/backlog.ts";
import { listen } from "../api/app.ts";
import type { Inflow } from "../api/app-parts.ts";
import type { Listener } from "../api/listener.ts";
import { publicOrigin } from "../config/origin.ts";
import { wrong } from "../config/settings.ts";
import type { Config } from "../config.ts";
import { createLimiter } from "../limiter.ts";
import { endWith } from "../operator/end.ts";
import { type EndingSignal, onEndingSignal, statusOfService } from "../operator/ending-signals.ts";
import { listeningFailure } from "../operator/listening-failure.ts";
import { openLog } from "../operator/log.ts";
import { adminCommand } from "../program-name.ts";
import { spoolOf } from "../store/database-files.ts";
import type { ServedStore } from "../store/serving.ts";
import { openStoreOf } from "../stores.ts";
import { type Companion, startCompanion } from "./companion.ts";
import { warnOfPlainHttp } from "./plain-http.ts";
import { keepRetaining } from "./retaining.ts";
import { startUsageWriter } from "./usage-writer.ts";

interface Running {
  /** The address that the server listens on. */
  readonly url: string;
  /** The public origin, with which links begin. */
  readonly baseUrl: string;
  /** Whether there is no account yet. */
  readonly isEmpty: boolean;
}

/** Starts to serve, and stops in order at the first signal that asks for it. Throws a UserError that says why it cannot. */
export function serve(config: Config): Running {
  checkInbox(config);
  const log = openLog(config.logLevel);
  const store = openStoreOf(config);
  // Before anything is served: a damaged file may say so here first.
  const isEmpty = store.isEmpty();
  const originAt = (port: number) => publicOrigin({ ...config, port });
  const listening = startListening(config, store, (port) => ({
    store,
    limiter: createLimiter(config.rateLimitPerMin),
    log,
    now: Date.now,
    baseUrl: originAt(port),
    adminCommand,
    trustProxy: config.trustProxy,
    publicMetrics: config.publicMetrics,
    inflow: () => lookAtInflow(config),
  }));
  warnOfPlainHttp(config, "API keys");
  const stopTimers = [startUsageWriter(store, log), keepRetaining(store, log)];
  const inbox = startInbox(config, log);
  const forgetSignals = onEndingSignal((signal) => {
    // A second one ends the process at once.
    forgetSignals();
    void stop({ listening, stopTimers, store, inbox }, signal);
  });
  store.listening(listening.url).catch(endWith);
  return { url: listening.url, baseUrl: originAt(listening.port), isEmpty };
}

function startListening(config: Config, store: ServedStore, partsFor: Parameters<typeof listen>[1]): Listener {
  try {
    return listen(config, partsFor);
  } catch (cause) {
    void store.close();
    throw listeningFailure(cause, config);
  }
}

/** Throws a UserError where there is no folder to watch. */
function checkInbox({ inbox }: Config): void {
  if (inbox === null || statSync(inbox, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw wrong("INBOX", inbox, "a folder that is there, with a folder for each account in it");
}

/** A process of its own: an import must keep no request waiting. */
function startInbox({ inbox }: Config, log: Logger): Companion | null {
  return inbox === null ? null : startCompanion(["inbox", inbox], (line) => log.error(line));
}

function lookAtInflow({ inbox, databasePath }: Config): Inflow {
  const spool = readBacklog(spoolOf(databasePath));
  const failed = [...spool.failed, ...(inbox === null ? [] : readBacklog(inbox).failed)];
  return { spoolBytes: spool.bytes, failedFiles: failed.reduce((sum, { files }) => sum + files, 0) };
}

interface Parts {
  readonly listening: Listener;
  readonly stopTimers: readonly (() => void)[];
  readonly store: ServedStore;
  readonly inbox: Companion | null;
}

async function stop({ listening, stopTimers, store, inbox }: Parts, signal: EndingSignal): Promise<void> {
  for (const stopTimer of stopTimers) stopTimer();
  await Promise.all([inbox?.stop(), listening.stop()]);
  try {
    await store.close();
  } catch (cause) {
    endWith(cause);
  }
  process.exit(statusOfService(signal));
}
