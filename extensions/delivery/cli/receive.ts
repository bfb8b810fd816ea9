/** bun admin receive: the webhook endpoint for vendors, and the import of what they delivered. */
import type { Logger } from "pino";
import { seconds } from "../../../src/cli/arguments.ts";
import { type AnyCommand, type CommandContext, jsonCommand } from "../../../src/cli/command.ts";
import { readConfig, readDatabasePath, readInboxKeepDays } from "../../../src/config.ts";
import { spoolOf } from "../../../src/db/database-files.ts";
import { codeOf, innermost } from "../../../src/db/failure.ts";
import { takeLock } from "../../../src/db/locks.ts";
import { findSource } from "../../../src/db/sources.ts";
import { openLog } from "../../../src/runtime/log.ts";
import { printMessage, writeNow } from "../../../src/runtime/process.ts";
import { statusOfService, stopSignal } from "../../../src/runtime/signals.ts";
import { UserError } from "../../../src/runtime/user-error.ts";
import { receiveOrigin, warnOfCertificate, warnOfPlainHttp } from "../../../src/server/listen-address.ts";
import { ImportProcess, importCommandOf } from "../inbox/import-process.ts";
import { Inbox } from "../inbox/inbox.ts";
import { checkSettings } from "../inbox/settings.ts";
import { createEndpoint, listenForDeliveries } from "../webhooks/endpoint.ts";
import { openSpool } from "../webhooks/spool.ts";
import { lookOn } from "./inbox.ts";
import { importWith } from "./unattended.ts";

export function receiveCommand(context: CommandContext): AnyCommand {
  return jsonCommand("receive", ["receive", "receive --every 10"])
    .option("--every <SECONDS>", "seconds between imports of deliveries", seconds("--every", 0.1, 3600), 60)
    .addHelpText(
      "after",
      `
It listens on RECEIVE_HOST and RECEIVE_PORT. It stores a delivery before
it responds with 200, and serves its leads within a minute.`,
    )
    .action((options) => receive(context, options.every));
}

async function receive(context: CommandContext, everySeconds: number): Promise<void> {
  const config = readConfig();
  const { receiveHost: host, receivePort: port, tls, trustProxy } = config;
  const log = openLog(config.logLevel);
  warnOfPlainHttp({ host, tls, trustProxy }, "tokens of sources");
  warnOfCertificate(tls, context.now());
  const folder = spoolOf(readDatabasePath());
  const release = takeLock(folder);
  if (release === null) {
    throw new UserError(`Another process receives deliveries for ${readDatabasePath()}.`, "Stop it first.");
  }
  const database = context.database("create");
  const spool = await openSpool(folder, context.now);
  const endpoint = createEndpoint({
    database,
    spool,
    log,
    now: context.now,
    baseUrl: receiveOrigin(config),
    trustProxy,
  });
  const server = listenForDeliveries({ host, port, tls }, endpoint);
  // A supervisor that reads the line may send a signal at once.
  const stop = stopSignal();
  writeNow(1, context.output.json ? `${JSON.stringify({ url: server.url })}\n` : `listening on ${server.url}\n`);
  const importing = importDeliveries(folder, context, stop, log);
  while (!stop.aborted) {
    await context.sleep(everySeconds * 1000, stop);
    if (stop.aborted) await Promise.all([importing, server.stop()]);
    // One import takes all deliveries of that time. A failure ends no deliveries.
    const incomplete = "deliveries are pending until receive is started again";
    await spool.complete().catch((cause) => log.error({ cause: codeOf(cause) || "unknown" }, incomplete));
  }
  release();
  context.setExitStatus(statusOfService(stop.reason));
}

/** A failed import is tried again after this time. */
const retryMs = 5_000;

/** Imports deliveries until it is told to stop. A failure ends no deliveries. */
async function importDeliveries(
  folder: string,
  context: CommandContext,
  stop: AbortSignal,
  log: Logger,
): Promise<void> {
  const imports = new ImportProcess(importCommandOf(folder), context.now);
  while (!stop.aborted) {
    try {
      await lookOn(openImport(folder, imports, context), imports, context, stop);
    } catch (cause) {
      log.error({ cause: innermost(cause) }, "the import of deliveries failed");
      await context.sleep(retryMs, stop);
    }
  }
  imports.end();
}

/** Returns the spool as an inbox, with a folder for each source. */
function openImport(folder: string, imports: ImportProcess, context: CommandContext): Inbox {
  return new Inbox(folder, {
    importOf(sourceId) {
      const source = findSource(context.database().read, sourceId);
      if (source === null) throw new UserError("there is no such source; its deliveries are not imported.", "");
      return importWith(context, source.account, checkSettings(source.options, "the source"), "deliveries", imports);
    },
    source: "deliveries",
    keepDays: readInboxKeepDays(),
    now: context.now,
    say: printMessage,
  });
}
