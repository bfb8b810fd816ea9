/** Leads per day and by source, and requests per key, as charts in the terminal or as a page. */
import type { Contributions } from "../../src/cli/contributions.ts";

export const extension: Contributions = {
  commands: [
    {
      name: "stats",
      description: "leads per day, by pixel, state, and source, and requests per key and day",
      load: async () => (await import("./stats.ts")).statsCommand,
    },
  ],
};
