/** All attacks, in the order of what would be lost. */

import { clusterCutOff } from "./attacks/cluster/cut-off.ts";
import { clusterImports } from "./attacks/cluster/imports.ts";
import { clusterKills } from "./attacks/cluster/kills.ts";
import { clusterRevocations } from "./attacks/cluster/revocations.ts";
import { clusterRolling } from "./attacks/cluster/rolling.ts";
import { killFollow } from "./attacks/kills/follow.ts";
import { killImport } from "./attacks/kills/import.ts";
import { killInbox } from "./attacks/kills/inbox.ts";
import { polledImport } from "./attacks/kills/polled-import.ts";
import { killReceive } from "./attacks/kills/receive.ts";
import { disclosures } from "./attacks/privacy/disclosures.ts";
import { erasure } from "./attacks/privacy/erasure.ts";
import { clock } from "./attacks/requests/clock.ts";
import { day } from "./attacks/requests/day.ts";
import { hostile } from "./attacks/requests/hostile.ts";
import { isolation } from "./attacks/requests/isolation.ts";
import { revocation } from "./attacks/requests/revocation.ts";
import { slowClients } from "./attacks/requests/slow-clients.ts";
import { brokenFile } from "./attacks/storage/broken-file.ts";
import { copies } from "./attacks/storage/copies.ts";
import { powerCut } from "./attacks/storage/power-cut.ts";
import type { Fault } from "./fault.ts";

/** On the file of one machine. */
export const faultsOfOne: readonly Fault[] = [
  killImport,
  polledImport,
  killReceive,
  killInbox,
  killFollow,
  powerCut,
  copies,
  erasure,
  disclosures,
  brokenFile,
  revocation,
  isolation,
  clock,
  hostile,
  slowClients,
  day,
];

/** On a cluster of three nodes. */
export const faultsOfCluster: readonly Fault[] = [
  clusterRevocations,
  clusterCutOff,
  clusterKills,
  clusterImports,
  clusterRolling,
];

export const faults: readonly Fault[] = [...faultsOfOne, ...faultsOfCluster];
