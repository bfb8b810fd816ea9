/** A small run of every attack that kills, beside the others. */
import { faultsOfKills } from "../../faults.ts";
import { describeSmall } from "../../small.ts";

for (const fault of faultsOfKills) describeSmall(fault);
