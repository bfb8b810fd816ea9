/** All attacks, by what they do. */

import { clusterImports } from "./attacks/cluster/imports.ts";
import { clusterKills } from "./attacks/cluster/kills.ts";
import { clusterCutOff, clusterFullDisk, clusterRevocations } from "./attacks/cluster/revocations.ts";
import { clusterRolling } from "./attacks/cluster/rolling.ts";
import { killDeliveries } from "./attacks/kills/deliveries.ts";
import { killFollow } from "./attacks/kills/follow.ts";
import { killImport } from "./attacks/kills/import.ts";
import { disclosures } from "./attacks/privacy/disclosures.ts";
import { erasure } from "./attacks/privacy/erasure.ts";
import { killErasure } from "./attacks/privacy/kill-erasure.ts";
import { restores } from "./attacks/privacy/restores.ts";
import { clock } from "./attacks/requests/clock.ts";
import { hostile } from "./attacks/requests/hostile.ts";
import { revocation } from "./attacks/requests/revocation.ts";
import { slowClients } from "./attacks/requests/slow-clients.ts";
import { powerCut } from "./attacks/storage/power-cut.ts";
import { year } from "./attacks/year/year.ts";
import type { Fault } from "./fault.ts";

/** They end a process at any moment. */
export const faultsOfKills: readonly Fault[] = [killImport, killDeliveries, killFollow];

/** They take from a file, or from its disk, what was written. */
export const faultsOfStorage: readonly Fault[] = [powerCut];

/** They look for people who should be gone, and for who received them. */
export const faultsOfPrivacy: readonly Fault[] = [erasure, killErasure, disclosures, restores];

/** They ask a server as nobody should, or when nobody would. */
export const faultsOfRequests: readonly Fault[] = [revocation, clock, hostile, slowClients];

/** They befall a cluster of three nodes. */
export const faultsOfCluster: readonly Fault[] = [
  clusterRevocations,
  clusterCutOff,
  clusterFullDisk,
  clusterKills,
  clusterImports,
  clusterRolling,
];

/** All of them, in the order of what would be lost. */
export const faults: readonly Fault[] = [
  ...faultsOfKills,
  ...faultsOfStorage,
  ...faultsOfPrivacy,
  ...faultsOfRequests,
  year,
  ...faultsOfCluster,
];
