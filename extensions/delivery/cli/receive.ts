/** bun admin receive: the webhook endpoint for vendors, and the import of what they delivered. */
import { join } from "node:path";
import { type Command, Option } from "commander";
import { seconds } from "../../../src/cli/arguments.ts";
import { type CommandContext, jsonCommand } from "../../../src/cli/command.ts";
import { readConfig, readDatabasePath, readInboxKeepDays } from "../../../src/config.ts";
import { spoolOf } from "../../../src/db/database-files.ts";
import { codeOf } from "../../../src/db/failure.ts";
import { takeLock } from "../../../src/db/locks.ts";
import { findSource } from "../../../src/db/sources.ts";
import { openLog } from "../../../src/runtime/log.ts";
import { printMessage, writeNow } from "../../../src/runtime/process.ts";
import { statusOfService, stopSignal } from "../../../src/runtime/signals.ts";
import { UserError } from "../../../src/runtime/user-error.ts";
import { startChild } from "../../../src/server/child-process.ts";
import { receiveOrigin, warnOfPlainHttp } from "../../../src/server/listen-address.ts";
import { Inbox } from "../inbox/inbox.ts";
import { checkSettings } from "../inbox/settings.ts";
import { createEndpoint, listenForDeliveries } from "../webhooks/endpoint.ts";
import { openSpool } from "../webhooks/spool.ts";
import { lookOn } from "./inbox.ts";
import { importWith } from "./unattended.ts";

interface ReceiveOptions {
  readonly every: number;
  /** Runs as the child process that imports. */
  readonly import?: boolean;
}

export function receiveCommand(context: CommandContext): Command {
  return jsonCommand("receive")
    .option("--every <SECONDS>", "seconds between imports of deliveries", seconds("--every", 0.1, 3600), 60)
    .addOption(new Option("--import").hideHelp())
    .addHelpText(
      "after",
      `
It listens on RECEIVE_HOST and RECEIVE_PORT. It stores a delivery before
it responds with 200, and serves its leads within a minute.`,
    )
    .examples("receive", "receive --every 10")
    .action((options: ReceiveOptions) => (options.import === true ? importSpool(context) : receive(context, options)));
}

async function receive(context: CommandContext, { every }: ReceiveOptions): Promise<void> {
  const config = readConfig();
  const { receiveHost: host, receivePort: port, tls, trustProxy } = config;
  const log = openLog(config.logLevel);
  warnOfPlainHttp({ host, tls, trustProxy }, "tokens of sources");
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
  // Whoever reads the line may send a signal at once.
  const stop = stopSignal();
  writeNow(1, context.output.json ? `${JSON.stringify({ url: server.url })}\n` : `listening on ${server.url}\n`);
  const importing = startChild(["receive", "--import"], (line) => log.error(line));
  while (!stop.aborted) {
    await context.sleep(every * 1000, stop);
    if (stop.aborted) await Promise.all([importing.stop(), server.stop()]);
    // One import takes all deliveries of that time. A failure ends no deliveries.
    const incomplete = "deliveries are pending until receive is started again";
    await spool.complete().catch((cause) => log.error({ cause: codeOf(cause) || "unknown" }, incomplete));
  }
  release();
  context.setExitStatus(statusOfService(stop.reason));
}

/** Runs as the child process of `receive`: imports complete files until a signal, and first waits for an earlier import. */
async function importSpool(context: CommandContext): Promise<void> {
  const folder = spoolOf(readDatabasePath());
  const stop = stopSignal();
  const lock = () => takeLock(join(folder, ".import"));
  let release = lock();
  // The import of a killed endpoint may still finish its file.
  for (; release === null; release = lock()) {
    await context.sleep(500, stop);
    if (stop.aborted) return;
  }
  const inbox = new Inbox(folder, {
    importOf(sourceId) {
      const source = findSource(context.database().read, sourceId);
      if (source === null) return { fault: "there is no such source; its deliveries are not imported." };
      return importWith(context, source.account, checkSettings(source.options, "the source"), "deliveries");
    },
    source: "deliveries",
    keepDays: readInboxKeepDays(),
    now: context.now,
    say: printMessage,
  });
  await lookOn(inbox, context, stop);
  release();
}
