/** A small run of every attack on privacy, beside the others. */
import { faultsOfPrivacy } from "../../faults.ts";
import { describeSmall } from "../../small.ts";

for (const fault of faultsOfPrivacy) describeSmall(fault);
