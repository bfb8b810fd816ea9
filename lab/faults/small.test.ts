/** A small run of every attack on one machine. */
import { faultsOfOne } from "./faults.ts";
import { describeSmall } from "./small.ts";

for (const fault of faultsOfOne) describeSmall(fault);
