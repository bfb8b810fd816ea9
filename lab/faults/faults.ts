/** All attacks, in the order of what would be lost. */
import { brokenFile } from "./broken-file.ts";
import { clock } from "./clock.ts";
import { clusterCutOff } from "./cluster/cut-off.ts";
import { clusterImports } from "./cluster/imports.ts";
import { clusterKills } from "./cluster/kills.ts";
import { clusterRevocations } from "./cluster/revocations.ts";
import { clusterRolling } from "./cluster/rolling.ts";
import { copies } from "./copies.ts";
import { day } from "./day.ts";
import { disclosures } from "./disclosures.ts";
import { erasure } from "./erasure.ts";
import type { Fault } from "./fault.ts";
import { hostile } from "./hostile.ts";
import { isolation } from "./isolation.ts";
import { killFollow } from "./kill-follow.ts";
import { killImport } from "./kill-import.ts";
import { killInbox } from "./kill-inbox.ts";
import { killReceive } from "./kill-receive.ts";
import { polledImport } from "./polled-import.ts";
import { powerCut } from "./power-cut.ts";
import { revocation } from "./revocation.ts";
import { slowClients } from "./slow-clients.ts";

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
