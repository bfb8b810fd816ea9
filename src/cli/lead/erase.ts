/** bun admin lead erase: removes persons, their bytes included, and keeps them out. */
import type { Command } from "commander";
import { examineSettings, readDatabasePath } from "../../config.ts";
import { isFileOfNode } from "../../db/database-files.ts";
import { takeLock } from "../../db/locks/process-lock.ts";
import { gapText } from "../../privacy/disclosures/gaps.ts";
import { notedWithinMs } from "../../privacy/disclosures/pages.ts";
import { type ErasedPerson, Erasure } from "../../privacy/erase.ts";
import { filesToSearch, searchFile } from "../../privacy/files.ts";
import { givenNamesWith } from "../../privacy/find.ts";
import { accountsHolding, surveyErasure } from "../../privacy/held.ts";
import type { PersonReference } from "../../privacy/identifiers.ts";
import { findReceipt, type Receipt } from "../../privacy/receipts.ts";
import { statusAfter } from "../../process.ts";
import { printable, UserError } from "../../user-error.ts";
import { accountOf } from "../arguments.ts";
import { storedCopiesText } from "../backup.ts";
import { type CommandContext, examples, jsonCommand, outputOf } from "../command.ts";
import { andMore, grouped, leadsText } from "../terminal/numbers.ts";
import { type Output, printLines, tryToPrint } from "../terminal/output.ts";
import { throttle } from "../terminal/progress.ts";
import { runSteps } from "../terminal/signals.ts";
import { notSearched, otherPhones, type PersonOptions, readPersons, withPerson } from "./person.ts";
import type { ListedPerson } from "./person-list.ts";
import { removeResidualBytes } from "./residual-bytes.ts";
import { askAboutSeveral, idsText, othersHold, printSurvey, severalText } from "./several-people.ts";

interface Options extends PersonOptions {
  readonly mentions?: boolean;
  readonly dryRun?: boolean;
}

export function eraseCommand(context: CommandContext): Command {
  return withPerson(jsonCommand("erase"))
    .description("remove persons for good, keep them out of later imports, and print a receipt for each")
    .argument("<ACCOUNT>", "ID or exact name")
    .option("--mentions", "also erase leads that hold a person's address elsewhere, such as in page_url")
    .option("--dry-run", "say how many leads would go, and change nothing")
    .addHelpText(
      "after",
      examples(
        "lead erase acme --email - < address.txt >> receipts.ndjson",
        "lead erase acme --list opted-out.csv --dry-run",
      ),
    )
    .action(async (idOrName: string, options: Options) => {
      const account = accountOf(context, idOrName);
      const persons = await readPersons(context, account, options);
      const references = persons.map(({ reference }) => reference);
      const output = outputOf(options);
      const say = throttle(output);
      const onRead = (leads: number) => say(() => `${grouped(leads)} leads read`);
      const database = context.database();
      const survey = () => surveyErasure(database.read, account.number, references, onRead);
      if (options.dryRun === true) return printSurvey(output, persons, survey(), options);
      await askAboutSeveral(persons, survey);
      const how = { withMentions: options.mentions === true, onRead };
      const erasure = new Erasure(database, account, references, how, context.now());
      const signal = await eraseAll(erasure, persons.length, output);
      const erased = erasure.persons;
      if (erased.some((one) => one.erased > 0)) await Bun.sleep(notingMs(database.path));
      await erasure.complete();
      printReceipts(context, output, erased, options.list !== undefined);
      if (signal !== null) {
        throw new UserError(
          `Stopped: ${grouped(erased.length)} of ${grouped(persons.length)} have a receipt, are erased and kept out, and the rest is as it was.`,
          "Run it again to complete it.",
          statusAfter[signal],
        );
      }
      sayErased(output, account.name, erased, references[0]?.kind ?? "email");
      sayUncertain(output, context, erased, persons);
      sayStaying(output, erasure);
      await removeResidualBytes(context, output);
      sayElsewhere(output, context, erasure, erased);
      output.say(await storedCopiesText());
    });
}

/** Erases all persons. Each has a receipt in the file from the transaction that removes the leads. */
async function eraseAll(erasure: Erasure, all: number, output: Output) {
  const say = throttle(output);
  const { signal } = await runSteps(erasure.steps(), (done) => say(() => `${grouped(done)} of ${grouped(all)} erased`));
  return signal;
}

/** How long a server takes to note its last pages; 0 if none runs. */
function notingMs(path: string): number {
  if (isFileOfNode(path)) return notedWithinMs;
  const release = takeLock(path);
  release?.();
  return release === null ? notedWithinMs : 0;
}

/** Prints the receipts: one for a person, or a line for each of a list. With --json the lines are one value together. */
function printReceipts(
  context: CommandContext,
  output: Output,
  persons: readonly ErasedPerson[],
  isList: boolean,
): void {
  const values = persons.map(({ erased, people, identity }) => {
    const receipt = findReceipt(context.database().read, identity) ?? "{}";
    return output.json ? `{"erased":${erased},"people":${people},"receipt":${receipt}}` : receipt;
  });
  const isTaken = tryToPrint(output, () => printLines(values, isList && output.json));
  if (isTaken) return;
  output.say("Standard output did not take all receipts. They are stored: receipt list ACCOUNT prints them.");
  context.endWith(1);
}

/** What keeps one person out, by how the person was named. Under anything else the person may come again. */
const keptOutBy: Readonly<Record<PersonReference["kind"], string>> = {
  email: "the same email addresses; --phone keeps out a phone as well",
  phone: "the same phone or email addresses",
  id: "the same ID, email addresses or phones",
  digest: "that SHA-256 or the same email addresses",
};

function sayErased(
  output: Output,
  account: string,
  found: readonly ErasedPerson[],
  kind: PersonReference["kind"],
): void {
  const persons = found.length;
  const leads = found.reduce((sum, one) => sum + one.erased, 0);
  const held = found.filter((one) => one.erased > 0).length;
  const by = persons === 1 ? keptOutBy[kind] : "what the list names or the same email addresses";
  const blocked = `in ${account}. A later import or restore leaves out leads with ${by}.`;
  if (persons === 1 && leads === 0)
    output.say(`No lead of this person was found ${blocked}${kind === "phone" ? ` ${otherPhones}` : ""}`);
  else if (persons === 1) output.say(`Erased ${leadsText(leads)} ${blocked}`);
  else output.say(`Erased ${leadsText(leads)} of ${grouped(held)} out of ${grouped(persons)} persons ${blocked}`);
}

/** Says what the receipts leave open: several people under one name, and gaps of the ledger. */
function sayUncertain(
  output: Output,
  context: CommandContext,
  erased: readonly ErasedPerson[],
  persons: readonly ListedPerson[],
): void {
  const several = severalText(
    erased.map(({ place, erased: leads, people }) => ({ line: persons[place]?.line ?? 0, leads, people })),
  );
  if (several !== null)
    output.say(`Warning: ${several} All of them are erased and kept out; lead unblock lets one in again.`);
  const gaps = new Set<string>();
  for (const { identity, erased: leads } of erased) {
    if (leads === 0) continue;
    const receipt: Receipt = JSON.parse(findReceipt(context.database().read, identity) ?? `{"gaps":[]}`);
    for (const gap of receipt.gaps) gaps.add(gapText(gap));
  }
  for (const text of gaps) output.say(text);
}

function sayStaying(output: Output, erasure: Erasure): void {
  const { blocked, mentioning } = erasure.staying;
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

const maxAccounts = 3;

/** Says what still holds the person, after one pass over all leads, and what was not searched. */
function sayElsewhere(
  output: Output,
  context: CommandContext,
  erasure: Erasure,
  erased: readonly ErasedPerson[],
): void {
  const { read } = context.database();
  const { matcher } = erasure;
  const holding = accountsHolding(read, matcher);
  const shown = holding.slice(0, maxAccounts).map(printable).join(" and ") + andMore(holding.length, maxAccounts);
  if (holding.length > 0) output.say(`Other leads of ${shown} have the same address, phone, or ID, and stay.`);
  else output.say("No other lead has the address, the phone, or the ID in a form that can be read.");
  for (const name of givenNamesWith(read, matcher))
    output.say(`The name of a file, a pixel, a key, a source or an account holds it, and stays: ${printable(name)}`);
  for (const file of filesToSearch(readDatabasePath(), examineSettings().config?.inbox ?? null)) {
    const { holds } = searchFile(file, matcher);
    if (holds === true) output.say(`This file still holds it, delete it when you can: ${printable(file)}`);
    if (holds === null) output.say(`This file could not be searched: ${printable(file)}`);
  }
  const [first] = erased;
  const receipt = first === undefined ? null : findReceipt(read, first.identity);
  const { rejects_files: rejectsFiles }: Pick<Receipt, "rejects_files"> = JSON.parse(receipt ?? `{"rejects_files":[]}`);
  for (const file of rejectsFiles) {
    const { holds } = searchFile(file, matcher);
    if (holds !== false) output.say(`An import wrote rejected rows there, look for the person: ${printable(file)}`);
  }
  output.say(notSearched);
  output.say("Out of reach: exports, logs, and backups made before (a restore erases again).");
}
