/** bun admin lead: leads come in and go out as files, and a person is found or erased. */
import { Command } from "commander";
import type { CommandContext } from "../command.ts";
import { eraseCommand } from "./erase.ts";
import { exportCommand } from "./export.ts";
import { findCommand } from "./find.ts";
import { importCommand } from "./import/command.ts";

export function leadCommand(context: CommandContext): Command {
  return new Command("lead")
    .description("import and export leads, find and erase a person")
    .addCommand(importCommand(context))
    .addCommand(exportCommand(context))
    .addCommand(findCommand(context))
    .addCommand(eraseCommand(context));
}
