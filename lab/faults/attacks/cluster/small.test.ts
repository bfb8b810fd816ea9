/** A small run of every attack on a cluster. */
import { faultsOfCluster } from "../../faults.ts";
import { describeSmall } from "../../small.ts";

for (const fault of faultsOfCluster) describeSmall(fault);
