/** A small run of every attack in this folder. */
import { faultsIn } from "../../faults.ts";
import { describeSmall } from "../../small.ts";

for (const fault of faultsIn.follow) describeSmall(fault);
