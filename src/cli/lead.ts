/** bun admin lead: leads come in and go out as files. */
import { Command } from "commander";
import type { Surroundings } from "./command.ts";
import { exportCommand } from "./lead-export.ts";
import { importCommand } from "./lead-import.ts";

export function leadCommand(around: Surroundings): Command {
  return new Command("lead")
    .description("import and export leads")
    .addCommand(importCommand(around))
    .addCommand(exportCommand(around));
}
