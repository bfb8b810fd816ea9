/** A small run of every attack by requests, beside the others. */
import { faultsOfRequests } from "../../faults.ts";
import { describeSmall } from "../../small.ts";

for (const fault of faultsOfRequests) describeSmall(fault);
