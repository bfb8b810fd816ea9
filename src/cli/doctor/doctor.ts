/** bun admin doctor: looks for what is wrong with the file, the settings and the disk, and changes nothing. */
import type { Command } from "commander";
import { examineSettings, ownAddress, readDatabasePath } from "../../config.ts";
import { isFileOfNode } from "../../db/database-files.ts";
import { examineFile } from "../../db/examination/examine.ts";
import { loadExtensions } from "../../extensions.ts";
import { printable } from "../../user-error.ts";
import { type CommandContext, examples, jsonCommand, outputOf } from "../command.ts";
import { paintCell } from "../terminal/output.ts";
import { labelled } from "../terminal/table.ts";
import { lookAtContents } from "./contents.ts";
import { lookAtFile } from "./file.ts";
import { broken, type Finding, type Level } from "./finding.ts";
import { lookAtServer } from "./server.ts";
import { lookAtSettings } from "./settings.ts";

const statuses: Readonly<Record<Level, number>> = { fine: 0, warning: 1, broken: 2 };

export function doctorCommand(context: CommandContext): Command {
  return jsonCommand("doctor")
    .description("look for what is wrong with the file, the settings and the disk")
    .option("--full", "compare every index with its table as well, which takes longer")
    .addHelpText(
      "after",
      "\nChanges nothing. Ends with 0 when all is well, 1 with warnings, 2 when something\nis broken.",
    )
    .addHelpText("after", examples("doctor", "doctor --full", "doctor --json"))
    .action(async (options: { full?: boolean; json?: boolean }) => {
      const findings = await findAll(context.now(), options.full === true);
      const found = findings.filter(({ level }) => level !== "fine");
      const shown = found.map(({ level, what, advice }) => ({ level, what, advice }));
      outputOf(options).result({ findings: shown }, text(findings));
      context.endWith(Math.max(0, ...findings.map(({ level }) => statuses[level])));
    });
}

/** Everything that the doctor finds, also what is fine. */
export async function findAll(nowMs: number, full: boolean): Promise<Finding[]> {
  const path = readDatabasePath();
  const examination = examineFile(path, full);
  const { faults, config } = examineSettings();
  const isInCluster = config?.cluster != null;
  const extensions = await loadExtensions();
  const ofExtensions = await Promise.all(
    extensions.map(({ findings }) => findings({ path, examination, config, nowMs })),
  );
  const place = config?.backups?.to ?? null;
  const address = config === null ? null : ownAddress(config);
  return [
    // What is wrong with the file of a node, its extension says: a backup would be the wrong advice.
    ...(isInCluster && examination.kind !== "read" ? [] : lookAtContents(path, examination, full, { place, nowMs })),
    ...(isInCluster ? [] : lookAtFileOrNode(path)),
    ...lookAtSettings(faults, config, nowMs),
    ...ofExtensions.flat(),
    ...(await lookAtServer(isInCluster ? null : path, address, config?.tls ?? null)),
  ];
}

function lookAtFileOrNode(path: string): Finding[] {
  if (!isFileOfNode(path)) return lookAtFile(path);
  const what = `${path} is the file of an rqlite node, which alone may write it.`;
  return [broken("cluster", what, "Set CLUSTER and NODE_NAME, or DATABASE_PATH to another file.")];
}

function text(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ level, thing, what, advice }) => {
    const label = `${level.padEnd(8)} ${thing.padEnd(12)} `;
    return [
      paintCell(level) + labelled(label, printable(what)).slice(level.length),
      ...(advice === "" ? [] : [labelled(`${" ".repeat(label.length)}→ `, advice)]),
    ];
  });
  const count = (level: Level) => findings.filter((finding) => finding.level === level).length;
  const [warnings, breakages] = [count("warning"), count("broken")];
  const sum = warnings + breakages === 0 ? "All is well." : `Broken: ${breakages}. Warnings: ${warnings}.`;
  return `${lines.join("\n")}\n\n${sum}`;
}
