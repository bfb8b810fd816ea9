/** The running server: store, limiter, app and listener put together, and taken apart in order. */
import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { endWith } from "./end.ts";
import { createApp } from "./http/app.ts";
import { type Listening, listen } from "./http/server.ts";
import { createLimiter } from "./limiter.ts";
import { openLog } from "./log.ts";
import { UserError } from "./operator/user-error.ts";
import { isInTheClear, publicOrigin } from "./origin.ts";
import { keepRetaining } from "./retaining.ts";
import { StoreFailure } from "./store/reading.ts";
import type { ServedStore } from "./store/serving.ts";
import type { Flushed } from "./store/usage.ts";
import { openStoreOf } from "./stores.ts";

export interface Running {
  /** The address that the server listens on. */
  readonly url: string;
  /** The public origin, with which links begin. */
  readonly baseUrl: string;
  /** Whether there is no account yet. */
  readonly isEmpty: boolean;
}

/** Usage is on disk a second after it was counted, an import beside it included: a try that met a writer is repeated. */
const flushMs = 500;
const afterMs = { idle: flushMs, done: flushMs, more: 0, locked: 4 };

/** Starts to serve, and stops in order at SIGTERM or SIGINT. Throws a UserError that says why it cannot. */
export function serve(config: Config): Running {
  const log = openLog(config.logLevel);
  const store = openStoreOf(config);
  let baseUrl = "";
  const listening = startListening(config, store, (port, addressOf) => {
    baseUrl = publicOrigin({ ...config, port });
    const limiter = createLimiter(config.rateLimitPerMin);
    const { trustProxy, publicMetrics } = config;
    return createApp({ store, limiter, log, now: Date.now, baseUrl, trustProxy, publicMetrics, addressOf });
  });
  warnOfPlainHttp(config);
  const stopFlushing = keepFlushing(store, log);
  const stopRetaining = keepRetaining(store, log);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => void stop(listening, [stopFlushing, stopRetaining], store));
  }
  return { url: listening.url, baseUrl, isEmpty: store.isEmpty() };
}

function startListening(config: Config, store: ServedStore, makeApp: Parameters<typeof listen>[1]): Listening {
  try {
    return listen({ host: config.host, port: config.port, tls: config.tls }, makeApp);
  } catch (cause) {
    void store.close();
    throw explain(cause, config);
  }
}

function explain(cause: unknown, { host, port, tls }: Config): UserError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (code === "EADDRINUSE") {
    return new UserError(
      `Port ${port} on ${host} is in use.`,
      "End the program that has it, or set PORT to another one.",
    );
  }
  if (code === "EACCES" && port < 1024) {
    return new UserError(`Port ${port} is for privileged programs.`, "Set PORT to 1024 or more.");
  }
  const said = cause instanceof Error ? cause.message : String(cause);
  if (tls !== null) {
    return new UserError(`TLS could not be set up (${said}).`, "Check that TLS_CERT and TLS_KEY are PEM and a pair.");
  }
  return new UserError(
    `Listening on ${host}, port ${port}, failed (${said}).`,
    "Set HOST to an address of this machine.",
  );
}

function warnOfPlainHttp(config: Config): void {
  if (!isInTheClear(config)) return;
  process.stderr.write(
    `Warning: ${config.host} can be reached from other machines without TLS, and API keys would cross the network in the ` +
      "clear. Set TLS_CERT and TLS_KEY, or TRUST_PROXY=1 behind a proxy that gives TLS.\n",
  );
}

function keepFlushing(store: ServedStore, log: Logger): () => void {
  let timer: ReturnType<typeof setTimeout>;
  let isStopped = false;
  let isSettling = false;
  /** Whether something is written that may not be on the disk. */
  let isUnsettled = false;
  const next = (ms: number) => {
    timer = setTimeout(flush, ms);
  };
  const complain = (failure: unknown, consequence: string) => {
    const why = failure instanceof StoreFailure ? failure.cause : failure;
    log.error({ cause: why instanceof Error ? why.message : "unknown" }, consequence);
  };
  /** However long the disk takes, counts go on being written: the end of the process alone loses none of these. */
  async function settle(): Promise<void> {
    if (isSettling || !isUnsettled) return;
    isSettling = true;
    isUnsettled = false;
    try {
      await store.settle();
    } catch (failure) {
      isUnsettled = true;
      // An orderly stop closes the log, and has put it on the disk before.
      if (!isStopped) complain(failure, "usage is written, but not safe from a power cut; it is tried again");
    }
    isSettling = false;
  }
  function flush(): void {
    let flushed: Flushed = "idle";
    try {
      flushed = store.flush();
    } catch (failure) {
      complain(failure, "usage could not be written; it is kept in memory and tried again");
    }
    if (flushed === "more" || flushed === "done") isUnsettled = true;
    if (flushed !== "more") void settle();
    next(afterMs[flushed]);
  }
  next(flushMs);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

async function stop(listening: Listening, stopTimers: readonly (() => void)[], store: ServedStore): Promise<void> {
  for (const stopTimer of stopTimers) stopTimer();
  await listening.stop();
  try {
    await store.close();
  } catch (cause) {
    endWith(cause);
  }
  process.exit(0);
}
