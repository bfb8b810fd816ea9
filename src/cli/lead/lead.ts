/** bun admin lead: leads come in and go out as files, and a person is found or erased. */
import { Command } from "commander";
import type { Surroundings } from "../command.ts";
import { eraseCommand } from "./erase.ts";
import { exportCommand } from "./export.ts";
import { findCommand } from "./find.ts";
import { importCommand } from "./import.ts";

export function leadCommand(around: Surroundings): Command {
  return new Command("lead")
    .description("import and export leads, find and erase a person")
    .addCommand(importCommand(around))
    .addCommand(exportCommand(around))
    .addCommand(findCommand(around))
    .addCommand(eraseCommand(around));
}
