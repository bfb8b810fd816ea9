/** bun admin lead import: a vendor's export, as it is, becomes leads. */
import { existsSync, realpathSync } from "node:fs";
import { type Command, Option } from "commander";
import { type DetailField, detailFields } from "../contract/lead.ts";
import { createColumns, readOrders } from "../intake/columns.ts";
import { toUtf8 } from "../intake/encoding.ts";
import type { LeadRules } from "../intake/lead.ts";
import { openRejects } from "../intake/rejects.ts";
import { openRows } from "../intake/rows.ts";
import { emptyCounts, runImport } from "../intake/run.ts";
import { openSource } from "../intake/source.ts";
import { isZone } from "../intake/times.ts";
import { Refusal } from "../refusal.ts";
import { accountOf, checkText, jsonCommand, outputOf, type Surroundings } from "./command.ts";
import { columnsText, createNotes, summaryText } from "./import-report.ts";
import { createProgress } from "./progress.ts";

interface Options {
  readonly map?: string;
  readonly pixel?: string;
  readonly createPixels?: boolean;
  readonly rejects?: string;
  readonly identity?: string;
  readonly onDuplicate: "skip" | "replace";
  readonly stamp: "source" | "arrival";
  readonly timezone: string;
  readonly dayFirst?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function importCommand(around: Surroundings): Command {
  return jsonCommand("import")
    .description("import a vendor's export: CSV or NDJSON, gzipped or not")
    .argument("<ACCOUNT>", "id or exact name")
    .argument("<FILE>", "the export; - reads standard input")
    .option("--map <THEIRS=OURS,…>", "say which column is which field; - for one that is not to be kept")
    .option("--pixel <ID>", "the pixel of rows that name none")
    .option("--create-pixels", "make the pixels that the file names")
    .option("--rejects <FILE>", "write rejected rows there, with line and reason")
    .option("--identity <FIELDS>", "tell rows without an id apart by these fields alone, such as email,page_url")
    .addOption(
      new Option("--on-duplicate <WHAT>", "what to do with a lead that is there already")
        .choices(["skip", "replace"])
        .default("skip"),
    )
    .addOption(
      new Option("--stamp <WHOSE>", "the time that leads get: that of the source, or that of the import")
        .choices(["source", "arrival"])
        .default("source"),
    )
    .option("--timezone <ZONE>", "the zone of times without an offset, such as America/New_York", "UTC")
    .option("--day-first", "read 01/02/2026 as the first of February")
    .option("--dry-run", "go through it all and change nothing")
    .addHelpText(
      "after",
      `
Examples:
  bun admin lead import acme export.csv --create-pixels --rejects rejected.csv
  zcat export.csv.gz | bun admin lead import acme - --pixel px_home
  bun admin lead import acme export.csv --map "Visited=identified_at,Ref=referrer" --timezone America/New_York

Ends with 3 when it is done but has rejected rows.`,
    )
    .action((idOrName: string, file: string, options: Options) => runCommand(around, idOrName, file, options));
}

async function runCommand(around: Surroundings, idOrName: string, file: string, options: Options): Promise<void> {
  const store = around.store();
  const account = accountOf(store, idOrName);
  const rules = readRules(account.id, options);
  const columns = createColumns(options.map === undefined ? new Map() : readOrders(options.map));
  const source = openSource(file, around.standardInput);
  if (rules.pixelId !== null) checkPixel(around, account.number, rules.pixelId, options);
  if (options.rejects !== undefined) checkRejects(options.rejects, file, around.databasePath);
  const makeRejects = options.rejects === undefined ? null : openRejects(options.rejects);

  const output = outputOf(options);
  const notes = createNotes();
  const counts = emptyCounts();
  const rows = await openRows(toUtf8(source.chunks, notes.legacyLine), columns);
  const rejects = rows === null ? null : (makeRejects?.(rows.format, () => columns.names) ?? null);
  const progress = createProgress(source, output);
  if (rows !== null) {
    const target = store.leads.beginImportAside(account.number, {
      onDuplicate: options.onDuplicate,
      createPixels: options.createPixels === true,
      rehearsal: options.dryRun === true,
    });
    const groups = announce(rows.groups, () => output.say(columnsText(columns.report(), rows.format)));
    const { onReject, onOddity } = notes;
    try {
      await runImport(
        { groups, columns, rules, target, rejects, now: around.now, onReject, onOddity, onProgress: progress.update },
        counts,
      );
    } finally {
      target.close();
      progress.stop();
      rejects?.close();
    }
  }
  for (const line of notes.lines(columns.report())) output.say(line);
  output.result(counts, summaryText(counts, options));
  if (counts.rejected > 0) around.endWith(3);
}

/** Says something after the first group was read, when the columns are known and nothing is imported yet. */
async function* announce<Group>(groups: AsyncGenerator<Group>, say: () => void): AsyncGenerator<Group> {
  let said = false;
  for await (const group of groups) {
    if (!said) say();
    said = true;
    yield group;
  }
}

function readRules(account: string, options: Options): LeadRules {
  if (!isZone(options.timezone)) {
    throw new Refusal(
      `--timezone is ${JSON.stringify(options.timezone)}, which is no IANA zone.`,
      "Write it as America/New_York or UTC.",
      2,
    );
  }
  return {
    account,
    pixelId: options.pixel === undefined ? null : checkText("--pixel", options.pixel),
    identity: options.identity === undefined ? detailFields : readIdentity(options.identity),
    stamp: options.stamp,
    zone: options.timezone,
    dayFirst: options.dayFirst === true,
  };
}

function readIdentity(text: string): DetailField[] {
  return text.split(",").map((part) => {
    const field = detailFields.find((known) => known === part.trim());
    if (field !== undefined) return field;
    throw new Refusal(
      `--identity has ${JSON.stringify(part)}.`,
      `It takes fields out of ${detailFields.join(", ")}.`,
      2,
    );
  });
}

function checkPixel(around: Surroundings, account: number, id: string, options: Options): void {
  if (options.createPixels === true || around.store().pixels.has(account, id)) return;
  throw new Refusal(
    `The account has no pixel ${JSON.stringify(id)}.`,
    "Add --create-pixels, or make it: bun admin pixel create.",
  );
}

/** The rejects must not be written over the file that they come from, or over the database. */
function checkRejects(rejects: string, file: string, database: string): void {
  if (!existsSync(rejects)) return;
  for (const precious of [file, database]) {
    if (existsSync(precious) && realpathSync(precious) === realpathSync(rejects)) {
      throw new Refusal(`--rejects would write over ${precious}.`, "Name another file.", 2);
    }
  }
}
