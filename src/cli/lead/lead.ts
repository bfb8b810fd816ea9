/** bun admin lead: leads come in and go out as files, and a person is found, erased or let in again. */
import { Command } from "commander";
import type { CommandContext } from "../command.ts";
import { eraseCommand } from "./erase.ts";
import { exportCommand } from "./export.ts";
import { findCommand } from "./find.ts";
import { importCommand } from "./import/command.ts";
import { unblockCommand } from "./unblock.ts";

export function leadCommand(context: CommandContext): Command {
  return new Command("lead")
    .description("import and export leads, find and erase a person, or let one in again")
    .addCommand(importCommand(context))
    .addCommand(exportCommand(context))
    .addCommand(findCommand(context))
    .addCommand(eraseCommand(context))
    .addCommand(unblockCommand(context));
}
