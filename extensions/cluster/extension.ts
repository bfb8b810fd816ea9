/** Several machines that serve the same leads, on rqlite. */
import type { Extension } from "../../src/extension.ts";

export const extension: Extension = {
  commands: [
    {
      name: "cluster",
      description: "several nodes of rqlite, with a server beside each",
      load: async () => (await import("./cli/cluster.ts")).clusterCommand,
    },
  ],
  findings: async (examined) => (await import("./cli/doctor.ts")).lookAtCluster(examined),
  loadDatabases: async (path, cluster) => (await import("./databases.ts")).clusterDatabases(path, cluster),
  demo: async () => (await import("./demo.ts")).demoCluster(),
};
