/** Several machines that serve the same leads, on rqlite. */
import type { Contributions } from "../../src/cli/contributions.ts";

export const extension: Contributions = {
  commands: [
    {
      name: "cluster",
      description: "several nodes of rqlite, each with a server",
      load: async () => (await import("./command.ts")).clusterCommand,
    },
  ],
  findings: async (examined) => (await import("./findings.ts")).checkCluster(examined),
  loadDatabases: async (path, cluster) => (await import("./databases.ts")).clusterDatabases(path, cluster),
};
