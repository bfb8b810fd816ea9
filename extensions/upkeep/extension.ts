/** Daily backups and alerts of a running server. */
import type { Contributions } from "../../src/cli/contributions.ts";

export const extension: Contributions = {
  commands: [
    {
      name: "watch",
      description: "make daily backups and send alerts, until Ctrl-C",
      load: async () => (await import("./watch.ts")).watchCommand,
    },
    {
      name: "alert",
      description: "send a test alert, or an alert that a service failed",
      examples: ["alert test", "alert unit leadfile.service"],
      load: {
        test: async () => (await import("./alert.ts")).testCommand,
        unit: async () => (await import("./alert.ts")).unitCommand,
      },
    },
  ],
  findings: async (examined) => (await import("./findings.ts")).checkPlace(examined),
  loadStore: async () => (await import("./store.ts")).store,
  childOf: ({ backups, alertUrl, alertMail }) =>
    backups === null && alertUrl === null && alertMail === null ? null : ["watch"],
};
