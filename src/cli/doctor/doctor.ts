/** bun admin doctor: looks for problems with the file, the settings, and the disk, and changes nothing. */
import { examineSettings, readDatabasePath } from "../../config.ts";
import { examineFile } from "../../db/examine.ts";
import { innermost } from "../../db/failure.ts";
import { printable } from "../../runtime/user-error.ts";
import { type AnyCommand, type CommandContext, jsonCommand } from "../command.ts";
import { paintCell } from "../terminal/output.ts";
import { labelled } from "../terminal/table.ts";
import { checkDatabase } from "./database.ts";
import { broken, type Examined, type Finding, shared } from "./finding.ts";
import { checkServer } from "./server.ts";
import { checkSettings } from "./settings.ts";
import { checkStorage } from "./storage.ts";

/** The command `doctor`. A check that fails is a finding as well. The exit status is that of the worst finding. */
export function doctorCommand(context: CommandContext): AnyCommand {
  return jsonCommand("doctor", ["doctor", "doctor --full", "doctor --json"])
    .option("--full", "also compare every index with its table, which takes longer")
    .addHelpText(
      "after",
      "\nChanges nothing. The exit status is 0 if all is well, 1 for warnings,\nand 2 if something is broken.",
    )
    .action(async (options) => {
      const findings = await findAll(context, options.full === true);
      const problems = findings.filter(({ level }) => level !== "fine");
      const shown = problems.map(({ level, what, advice }) => ({ level, what, advice }));
      context.output.result({ findings: shown }, text(findings));
      context.setExitStatus(problems.some(({ level }) => level === "broken") ? 2 : Math.min(problems.length, 1));
    });
}

/** In the order in which the findings are shown. */
const checks: readonly ((
  examined: Examined,
  installed: CommandContext["installed"],
) => readonly Finding[] | Promise<readonly Finding[]>)[] = [
  (examined) => shared(checkDatabase(examined)),
  checkStorage,
  checkSettings,
  async (examined, installed) => (await installed()).findings(examined),
  checkServer,
];

/** Returns all findings of the doctor, including checks that found no problem. */
export async function findAll(
  { now, installed }: Pick<CommandContext, "now" | "installed">,
  full: boolean,
): Promise<Finding[]> {
  const path = readDatabasePath();
  const nowMs = now();
  const examined = { path, contents: examineFile(path, full, nowMs), ...examineSettings(), full, nowMs };
  return (await Promise.all(checks.map((check) => Promise.try(check, examined, installed).catch(failed)))).flat();
}

/** The finding of a check that failed. It must not hide the others, nor end the process that sends alerts. */
function failed(cause: unknown): Finding[] {
  const advice = "Correct the path and its permissions, or run the command as the user of the server.";
  return [broken("doctor", `A check failed (${innermost(cause)}).`, advice)];
}

function text(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ level, thing, what, advice }) => {
    const label = `${level.padEnd(8)} ${thing.padEnd(12)} `;
    const said = paintCell(level) + labelled(label, printable(what)).slice(level.length);
    return advice === "" ? [said] : [said, labelled(`${" ".repeat(label.length)}→ `, advice)];
  });
  const count = (level: Finding["level"]) => findings.filter((finding) => finding.level === level).length;
  const [warnings, breakages] = [count("warning"), count("broken")];
  const sum = warnings + breakages === 0 ? "All is well." : `Broken: ${breakages}. Warnings: ${warnings}.`;
  return `${lines.join("\n")}\n\n${sum}`;
}
