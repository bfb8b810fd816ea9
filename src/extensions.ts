/**
 * Loads the extensions and packages, which no other file of the core names. Each is loaded on demand, and may be absent:
 * then its commands are unknown, and its settings have no effect.
 */
import type { Command } from "commander";
import type { AnyCommand, CommandContext, CommandEntry, Installed, MakeCommand } from "./cli/command.ts";
import type { Contributions, Databases } from "./cli/contributions.ts";
import { type ClusterConfig, readCluster, readDatabasePath, refuseSecondDatabase } from "./config.ts";
import { isFileOfNode } from "./db/database-files.ts";
import { UserError } from "./runtime/user-error.ts";

/** The literal paths let `bun build --compile` include the files. */
const loaders = {
  stats: () => import("../extensions/stats/extension.ts").catch(nothingIfAbsent),
  upkeep: () => import("../extensions/upkeep/extension.ts").catch(nothingIfAbsent),
  delivery: () => import("../extensions/delivery/extension.ts").catch(nothingIfAbsent),
  cluster: () => import("../extensions/cluster/extension.ts").catch(nothingIfAbsent),
};

/** Loads all installed extensions. */
async function loadExtensions(): Promise<readonly Contributions[]> {
  const all = await Promise.all(Object.values(loaders).map((load) => load()));
  return all.flatMap((module) => module?.extension ?? []);
}

function nothingIfAbsent(cause: unknown): null {
  // Bun's error for a missing file is not an instance of Error. A file that an extension itself lacks is a failure.
  const { code, message }: { code?: unknown; message?: unknown } = Object(cause);
  if (code === "ERR_MODULE_NOT_FOUND" && /\/extension\.ts\b/.test(String(message))) return null;
  throw cause;
}

/** Loads the databases of the local rqlite node; null if this server has its own file. */
export async function loadClusterDatabases(path: string, cluster: ClusterConfig | null): Promise<Databases | null> {
  checkOwner(path, cluster);
  if (cluster === null) return null;
  const loadDatabases = (await loaders.cluster())?.extension.loadDatabases;
  if (loadDatabases !== undefined) return loadDatabases(path, cluster);
  throw new UserError("CLUSTER is set, but this installation has no extension for clusters.", "Unset CLUSTER.", 2);
}

/** The contributions of all installed extensions and packages to commands and to the server. */
export const installed: Installed = {
  commands: async () => [...(await loadExtensions()).flatMap(({ commands }) => commands), ...packageCommands],
  async findings(examined) {
    const found = (await loadExtensions()).map(({ findings }) => findings?.(examined) ?? []);
    return (await Promise.all(found)).flat();
  },
  async backups() {
    const path = readDatabasePath();
    // A restore creates the database.
    refuseSecondDatabase(path);
    const cluster = await loadClusterDatabases(path, readCluster());
    return cluster === null ? (await import("./backup/restore.ts")).openBackups(path) : await cluster.openBackups();
  },
  async store() {
    const loads = (await loadExtensions()).map(({ loadStore }) => loadStore?.() ?? null);
    return (await Promise.all(loads)).find((store) => store !== null) ?? null;
  },
  async serving(config) {
    const { databasePath, disclosures } = config;
    const extensions = await loadExtensions();
    const children = extensions.map(({ childOf }) => childOf?.(config) ?? null).filter((words) => words !== null);
    const inflowOf = extensions.map((extension) => extension.inflowOf).find((found) => found !== undefined);
    const cluster = await loadClusterDatabases(databasePath, config.cluster);
    return {
      children,
      inflow: () => inflowOf?.(config) ?? null,
      store: cluster === null ? null : await cluster.openForServing(disclosures),
    };
  },
};

/** Throws a UserError if rqlite alone may write the file and CLUSTER is not set, or the other way round. */
function checkOwner(path: string, cluster: ClusterConfig | null): void {
  const isOfNode = isFileOfNode(path);
  if (isOfNode && cluster === null) {
    throw new UserError(
      `${path} belongs to an rqlite node, and only that node may write to it.`,
      "Set CLUSTER and NODE_NAME to work with the cluster, or DATABASE_PATH to another file.",
    );
  }
  if (!isOfNode && cluster !== null) {
    throw new UserError(
      `${path} is not the file of an rqlite node.`,
      "Set DATABASE_PATH to db.sqlite in the folder of the node at CLUSTER, once it runs.",
    );
  }
}

/** Packages use the same class, but not its types of arguments and options. */
function ofPackage(make: (context: CommandContext) => Command): MakeCommand {
  return (context) => make(context) as unknown as AnyCommand; // It is one without these types.
}

/** The commands of the packages, which know a server only over HTTP, and whose own programs have other names. */
const packageCommands: readonly CommandEntry[] = [
  {
    name: "conformance",
    description: "check any server against the specification, section by section",
    examples: ["conformance https://www.example.com < key.txt", "conformance http://localhost:3000 --limits < key.txt"],
    load: async () => ofPackage((await import("../packages/conformance/src/command.ts")).conformanceCommand),
  },
  {
    name: "follow",
    description: "print or forward each new lead of a server, oldest first",
    examples: [
      "follow https://www.example.com --checkpoint last.txt >> leads.ndjson",
      'follow https://www.example.com --exec "php take.php" < key.txt',
      "follow https://www.example.com --post https://crm.example.com/leads",
    ],
    load: async () => ofPackage((await import("../packages/client/program/follow.ts")).followCommand),
  },
  {
    name: "mcp",
    description: "run an MCP server that lets AI models read a server",
    examples: ["mcp https://www.example.com", "mcp http://localhost:3000 --reveal"],
    load: async () => ofPackage((await import("../packages/mcp/src/mcp.ts")).mcpCommand),
  },
];
