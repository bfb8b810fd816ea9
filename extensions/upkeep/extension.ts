/** Daily backups and alerts of a running server. */
import type { Contributions } from "../../src/cli/contributions.ts";

export const extension: Contributions = {
  commands: [
    {
      name: "watch",
      description: "make daily backups and send alerts, until Ctrl-C",
      load: async () => (await import("./watch.ts")).watchCommand,
    },
  ],
  childOf: ({ backups, alertUrl }) => (backups === null && alertUrl === null ? null : ["watch"]),
};
