/** A small run of every attack on the file and its disk, beside the others. */
import { faultsOfStorage } from "../../faults.ts";
import { describeSmall } from "../../small.ts";

for (const fault of faultsOfStorage) describeSmall(fault);
