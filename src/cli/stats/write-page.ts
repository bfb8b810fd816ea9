/** Writes the page of the figures to a file: whole or not at all. */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { UserError } from "../../operator/user-error.ts";
import type { CommandContext } from "../command.ts";
import { type Figures, statsPage } from "./page.ts";

/** Throws a UserError when the file cannot be written, or belongs to the database. */
export async function writePage(context: CommandContext, file: string, figures: Figures): Promise<void> {
  if (resolve(file).startsWith(resolve(context.databasePath))) {
    throw new UserError(`${file} belongs to the database.`, "Name another file.", 2);
  }
  const page = await statsPage(figures);
  const draft = `${file}.draft-${process.pid}`;
  try {
    writeFileSync(draft, page);
    renameSync(draft, file);
  } catch {
    rmSync(draft, { force: true });
    throw new UserError(`${file} cannot be written.`, "Check its folder, and that this user may write there.");
  }
}
