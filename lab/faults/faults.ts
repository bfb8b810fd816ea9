/** The attacks. */
import { clusterImports } from "./attacks/cluster/imports.ts";
import { clusterKills } from "./attacks/cluster/kills.ts";
import { clusterFullDisk, clusterRevocations } from "./attacks/cluster/revocations.ts";
import { clusterRolling } from "./attacks/cluster/rolling.ts";
import { killFollow } from "./attacks/follow/follow.ts";
import { ledger } from "./attacks/privacy/ledger.ts";
import { restores } from "./attacks/privacy/restores.ts";
import { hostile } from "./attacks/requests/hostile.ts";
import { revocation } from "./attacks/requests/revocation.ts";
import { slowClients } from "./attacks/requests/slow-clients.ts";
import { powerCut } from "./attacks/storage/power-cut.ts";
import { year } from "./attacks/year/year.ts";
import { mutations } from "./breaking/mutations.ts";
import type { Fault } from "./fault.ts";

/** All attacks by folder, those with the worst possible loss first. */
export const faultsIn = {
  follow: [killFollow],
  storage: [powerCut],
  privacy: [ledger, restores],
  requests: [revocation, hostile, slowClients],
  year: [year],
  cluster: [clusterRevocations, clusterFullDisk, clusterKills, clusterImports, clusterRolling],
  lines: [mutations],
} satisfies Readonly<Record<string, readonly Fault[]>>;

export const faults: readonly Fault[] = Object.values(faultsIn).flat();
