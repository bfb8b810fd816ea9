/** All attacks, in the order of what would be lost. */
import { clock } from "./clock.ts";
import type { Fault } from "./fault.ts";
import { isolation } from "./isolation.ts";
import { killImport } from "./kill-import.ts";
import { powerCut } from "./power-cut.ts";
import { revocation } from "./revocation.ts";

export const faults: readonly Fault[] = [killImport, powerCut, revocation, clock, isolation];
