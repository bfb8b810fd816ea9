/** Leads that arrive by themselves: files in an inbox, and webhooks of vendors. */

import type { Contributions } from "../../src/cli/contributions.ts";
import { invalidSetting } from "../../src/config.ts";
import { isFolder, spoolOf } from "../../src/db/database-files.ts";
import { readQueue, total } from "./inbox/queue.ts";

export const extension: Contributions = {
  commands: [
    {
      name: "inbox",
      description: "import files that are dropped into a folder, until Ctrl-C",
      load: async () => (await import("./cli/inbox.ts")).inboxCommand,
    },
    {
      name: "receive",
      description: "receive webhooks from vendors, until Ctrl-C; source create creates their URLs",
      load: async () => (await import("./cli/receive.ts")).receiveCommand,
    },
    {
      name: "source",
      description: "webhook URLs to which vendors deliver leads",
      load: async () => (await import("./cli/source.ts")).sourceCommand,
    },
  ],
  findings: async (examined) => (await import("./cli/inflow.ts")).lookAtInflow(examined),
  childOf({ inbox }) {
    if (inbox === null) return null;
    if (isFolder(inbox)) return ["inbox", inbox];
    throw invalidSetting("INBOX", inbox, "an existing folder, with a folder for each account in it");
  },
  inflowOf({ inbox, databasePath }) {
    const spool = readQueue(spoolOf(databasePath));
    const uploads = inbox === null ? [] : readQueue(inbox);
    const all = [...spool, ...uploads];
    return {
      spoolBytes: total(spool, "waiting").bytes,
      waitingFiles: total(uploads, "waiting"),
      failedFiles: total(all, "failed"),
      rejectedRows: total(all, "rejected"),
    };
  },
};
