/** bun admin lead erase: removes persons, their bytes included, and keeps them out. */

import type { Command } from "commander";
import { readDatabasePath } from "../../config.ts";
import { takeLock } from "../../db/locks/process-lock.ts";
import { printable } from "../../printable.ts";
import { statusAfter } from "../../process.ts";
import { isFileOfNode } from "../../store/database-files.ts";
import { notedWithinMs } from "../../store/disclosures.ts";
import type { Erased, Erasure, PersonReference, Staying } from "../../store/privacy.ts";
import { UserError } from "../../user-error.ts";
import { accountOf } from "../arguments.ts";
import { type CommandContext, jsonCommand, outputOf } from "../command.ts";
import { grouped, leadsText } from "../terminal/numbers.ts";
import type { Output } from "../terminal/output.ts";
import { throttle } from "../terminal/progress.ts";
import { idsText, othersHold } from "./mentions.ts";
import { otherPhones, type PersonOptions, readPersons, withPerson } from "./person.ts";
import type { ListedPerson } from "./person-list.ts";
import { createReceipts, type Receipts } from "./receipts.ts";
import { type Found, severalText } from "./several-people.ts";
import { askAboutSeveral, printSurvey } from "./survey.ts";
import { removeTraces, sayTraces } from "./traces.ts";

interface Options extends PersonOptions {
  readonly mentions?: boolean;
  readonly dryRun?: boolean;
}

export function eraseCommand(context: CommandContext): Command {
  return withPerson(jsonCommand("erase"))
    .description("remove persons for good, keep them out of later imports, and print a receipt for each")
    .argument("<ACCOUNT>", "id or exact name")
    .option("--mentions", "also erase leads that hold a person's address elsewhere, such as in page_url")
    .option("--dry-run", "say how many leads would go, and change nothing")
    .action(async (idOrName: string, options: Options) => {
      const account = accountOf(context, idOrName);
      const persons = await readPersons(context, options);
      const references = persons.map(({ reference }) => reference);
      const output = outputOf(options);
      const say = throttle(output);
      const onRead = (leads: number) => say(() => `${grouped(leads)} leads read`);
      const { people } = context.store();
      const survey = () => people.survey(account, references, onRead);
      if (options.dryRun === true) return printSurvey(output, persons, survey(), options);
      await askAboutSeveral(persons, survey);
      const how = { withMentions: options.mentions === true, onRead, notedWithinMs: notingMs(readDatabasePath()) };
      const erasure = people.erase(account, references, how, context.now());
      const done = await eraseAll(context, erasure, persons, createReceipts(output, options.list !== undefined));
      sayErased(output, account.name, done, references[0]?.kind ?? "email");
      const several = severalText(done.found);
      if (several !== null)
        output.say(`Warning: ${several} All of them are erased and kept out; lead unblock lets one in again.`);
      sayStaying(output, erasure.staying());
      sayTraces(output, readDatabasePath(), removeTraces(context, output, erasure));
      output.say(
        "Out of reach: exports, rejects files, what lies in an inbox, logs, and backups made before (a restore erases again).",
      );
      for (const file of done.rejectsFiles)
        output.say(`An import wrote rejected rows there, look for the person: ${printable(file)}`);
    });
}

interface Done {
  /** What each place of the list has found. */
  readonly found: readonly Found[];
  readonly rejectsFiles: readonly string[];
}

/** Erases all persons and prints their receipts. Each person is gone with the receipt, whatever happens later. */
async function eraseAll(
  context: CommandContext,
  erasure: Erasure,
  persons: readonly ListedPerson[],
  receipts: Receipts,
): Promise<Done> {
  const found = new Map<number, Found>();
  let rejectsFiles: readonly string[] = [];
  let signal = await context.pause(0);
  if (signal === null) {
    for (const step of erasure.steps()) {
      for (const one of step) {
        receipts.add(one);
        found.set(one.place, together(persons[one.place]?.line ?? 0, one, found.get(one.place)));
      }
      rejectsFiles = step[0]?.receipt.rejects_files ?? rejectsFiles;
      receipts.progress(found.size, persons.length);
      signal = await context.pause(0);
      if (signal !== null) break;
    }
  }
  if (!receipts.end()) context.endWith(1);
  if (signal === null) return { found: [...found.values()], rejectsFiles };
  throw new UserError(
    `Stopped: ${grouped(found.size)} of ${grouped(persons.length)} have a receipt, are erased and kept out, and the rest is as it was.`,
    "Run it again to complete it.",
    statusAfter[signal],
  );
}

/** How long a server takes to note its last pages; 0 where none runs. */
function notingMs(databasePath: string): number {
  return isFileOfNode(databasePath) || isLocked(takeLock(databasePath)) ? notedWithinMs : 0;
}

function isLocked(release: (() => void) | null): boolean {
  release?.();
  return release === null;
}

/** An import that runs meanwhile has a person erased twice. */
function together(line: number, { erased, people }: Erased, before: Found | undefined): Found {
  return { line, leads: erased + (before?.leads ?? 0), people: Math.max(people, before?.people ?? 0) };
}

/** What keeps one person out, by how the person was named. Under anything else the person may come again. */
const keptOutBy: Readonly<Record<PersonReference["kind"], string>> = {
  email: "the same e-mail addresses; --phone keeps out a phone as well",
  phone: "the same phone or e-mail addresses",
  id: "the same id, e-mail addresses or phones",
  digest: "that SHA-256 or the same e-mail addresses",
};

function sayErased(output: Output, account: string, { found }: Done, kind: PersonReference["kind"]): void {
  const persons = found.length;
  const leads = found.reduce((sum, one) => sum + one.leads, 0);
  const held = found.filter((one) => one.leads > 0).length;
  const by = persons === 1 ? keptOutBy[kind] : "what the list names or the same e-mail addresses";
  const blocked = `in ${account}. A later import or restore leaves out leads with ${by}.`;
  if (persons === 1 && leads === 0)
    output.say(`No lead of this person was found ${blocked}${kind === "phone" ? ` ${otherPhones}` : ""}`);
  else if (persons === 1) output.say(`Erased ${leadsText(leads)} ${blocked}`);
  else output.say(`Erased ${leadsText(leads)} of ${grouped(held)} out of ${grouped(persons)} persons ${blocked}`);
}

function sayStaying(output: Output, { blocked, mentioning }: Staying): void {
  if (blocked.length > 0) {
    output.say(
      `${othersHold(blocked.length)} an address or phone of the erased in a field of its own, and stayed; an import would leave ` +
        `such a lead out now. If it is the same person, erase --id erases it; if not, lead unblock lets the other in. find --id ` +
        `shows each: ${idsText(blocked)}.`,
    );
  }
  if (mentioning.length === 0) return;
  output.say(
    `${othersHold(mentioning.length)} an address or phone of the erased, such as in page_url, and stayed; ` +
      `--mentions with that address or phone erases them as well: ${idsText(mentioning)}.`,
  );
}
