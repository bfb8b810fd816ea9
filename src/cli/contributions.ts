/**
 * The interface of an extension: its commands, findings, child process, database, and places for backups. src/extensions.ts
 * loads extensions.
 */
import type { Inflow } from "../api/ops/metrics.ts";
import type { BackupStore } from "../backup/places.ts";
import type { Backups } from "../backup/restore.ts";
import type { ClusterConfig, Config } from "../config.ts";
import type { ServedStore } from "../server/store.ts";
import type { CommandDatabase, CommandEntry } from "./command.ts";
import type { Examined, Finding } from "./doctor/finding.ts";

/** The contributions of an extension. Its `extension.ts` exports them as `extension`, and loads the rest on demand. */
export interface Contributions {
  readonly commands: readonly CommandEntry[];
  /** Looks for problems in what the extension is responsible for. */
  readonly findings?: (examined: Examined) => Promise<readonly Finding[]>;
  /** Opens the database of a cluster instead of the file. */
  readonly loadDatabases?: (path: string, cluster: ClusterConfig) => Promise<Databases>;
  /** The arguments of the command that bun start runs in a separate process; null if there is none. */
  readonly childOf?: (config: Config) => readonly string[] | null;
  /** Loads the backup store: places other than folders, and encryption. */
  readonly loadStore?: () => Promise<BackupStore>;
  /** The pending deliveries, for the metrics. */
  readonly inflowOf?: (config: Config) => Inflow;
}

/** Opens the database at DATABASE_PATH. Each method throws a UserError with the reason if it fails. */
export interface Databases {
  /** The time of the cluster, from which the clock of this machine may differ. */
  readonly now: () => number;
  /** Resolves to true on the one server of the cluster that sends the alerts about shared findings. */
  readonly sendsSharedAlerts: () => Promise<boolean>;
  readonly openForServing: (keepsLedger: boolean) => Promise<ServedStore>;
  /** Waits until commands can read all earlier writes. Resolves to a function that opens the database, and reports a failure. */
  readonly prepareForCommands: () => Promise<() => CommandDatabase>;
  readonly openBackups: () => Promise<Backups>;
}
