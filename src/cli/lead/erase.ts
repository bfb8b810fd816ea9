/** bun admin lead erase: removes persons, their bytes included, and keeps them out. */
import { searchFile } from "../../privacy/copies.ts";
import { type ErasedPerson, Erasure } from "../../privacy/erase.ts";
import { givenNamesWith, type RemainingLeads, type Survey, surveyErasure } from "../../privacy/find.ts";
import type { PersonReference } from "../../privacy/identifiers.ts";
import { readReceipt } from "../../privacy/receipts.ts";
import { gapText } from "../../privacy/sent/gaps.ts";
import { untilRecorded } from "../../privacy/sent/ledger.ts";
import { runSteps, stoppedBy } from "../../runtime/signals.ts";
import { printable } from "../../runtime/user-error.ts";
import { commandOnAccount } from "../arguments.ts";
import type { AnyCommand, CommandContext } from "../command.ts";
import { removeResidualBytes, sayCopies } from "../residual-data.ts";
import { counted, firstOf, grouped, leadsText } from "../terminal/numbers.ts";
import { type Output, printLines, tryToPrint } from "../terminal/output.ts";
import { throttle } from "../terminal/progress.ts";
import { canAsk, confirm } from "../terminal/prompt.ts";
import {
  idsText,
  kinds,
  notSearched,
  otherPhones,
  othersHold,
  readPersons,
  severalText,
  withPerson,
} from "./person.ts";

/** Makes the command. A receipt is printed when it is stored, and its person erased and blocked, so that a signal loses nothing. */
export function eraseCommand(context: CommandContext): AnyCommand {
  return withPerson(
    commandOnAccount(context, "erase", [
      "lead erase acme --email - < address.txt >> receipts.ndjson",
      "lead erase acme --list opted-out.csv --dry-run",
    ]),
  )
    .description("erase persons permanently, block them in later imports, and print a receipt for each")
    .option("--mentions", "also erase leads that contain the email address or phone in another field, such as page_url")
    .option("--dry-run", "show how many leads would be erased, and change nothing")
    .addHelpText(
      "after",
      `
Pass exactly one of --email, --phone, --id, and --list. The command does not ask
for confirmation, unless a phone or a SHA-256 names several people. To see what
it would erase, pass --dry-run first.`,
    )
    .action(async (account, options) => {
      const persons = await readPersons(context, account, options);
      const say = throttle(context.output);
      const onRead = (leads: number) => say(() => `${grouped(leads)} leads read`);
      const database = context.database();
      const survey = () => surveyErasure(database.read, account.number, persons, onRead);
      if (options.dryRun === true) return printSurvey(context.output, survey(), options);
      await askAboutSeveral(persons, survey);
      const how = { withMentions: options.mentions === true, onRead };
      const erasure = new Erasure(database, account, persons, how, context.now());
      const { signal } = await runSteps(erasure.steps(), (done) =>
        say(() => `${grouped(done)} of ${grouped(persons.length)} erased`),
      );
      if (erasure.hasRemoved) await untilRecorded(database.path);
      const erased = await erasure.complete();
      printReceipts(context, erased, options.list !== undefined);
      if (signal !== null) {
        const done = `${grouped(erased.length)} of ${grouped(persons.length)} have a receipt`;
        throw stoppedBy(signal, `Stopped: ${done}; these are erased and blocked. The others are unchanged.`);
      }
      sayErased(context.output, account.name, erased);
      sayUncertain(context.output, erased);
      const remaining = erasure.findRemaining();
      sayRemaining(context.output, remaining);
      await removeResidualBytes(context, erasure.hasRemoved);
      await warnOfOtherCopies(context, {
        account: account.name,
        accounts: remaining.accounts,
        matcher: erasure.matcher,
        erased,
      });
    });
}

/** Advice if one person alone is meant. */
const oneAlone =
  "To erase only one of them, pass --email instead. The ID of a lead would also block its phone, and so the others.";

function printSurvey(
  output: Output,
  { found, mentions }: Survey,
  options: { readonly list?: string; readonly mentions?: boolean },
): void {
  const kinds = [...Map.groupBy(found, ({ person }) => person.kind)].map(([kind, some]) => ({
    kind,
    persons: some.length,
    leads: some.reduce((sum, { leads }) => sum + leads, 0),
    people: some.reduce((sum, { people }) => sum + people, 0),
  }));
  const onList = (count: number) => (options.list === undefined ? "" : ` of ${counted("person")(count)} on the list`);
  const lines = kinds.map(({ kind, persons, leads }) => `${kind}: ${leadsText(leads)}${onList(persons)}`);
  output.result({ kinds, mentions }, lines.join("\n"));
  const others = `${leadsText(mentions.length)} ${mentions.length === 1 ? "contains" : "contain"} one of their email addresses or phones in another field`;
  output.say(`Nothing was changed. ${others}, and would ${options.mentions === true ? "also be erased" : "be kept"}.`);
  const several = severalText(found);
  if (several !== null) output.say(`Warning: ${several} All of them would be erased. ${oneAlone}`);
}

/** Asks on a terminal before several people are erased by one name. Throws a UserError if the answer is no. */
async function askAboutSeveral(persons: readonly PersonReference[], survey: () => Survey): Promise<void> {
  // All leads of an email address are of one person.
  const mayBeShared = persons.some(({ kind }) => kind === "phone" || kind === "digest");
  if (!mayBeShared || !canAsk()) return;
  const several = severalText(survey().found);
  if (several !== null) await confirm(`${several}\nErase all of them?`, {}, oneAlone);
}

/** Prints the receipts: one for a person, or a line for each of a list. With --json the lines are one value together. */
function printReceipts(context: CommandContext, persons: readonly ErasedPerson[], isList: boolean): void {
  const { output } = context;
  const values = persons.map(({ erased, people, receipt }) =>
    output.json ? `{"erased":${erased},"people":${people},"receipt":${receipt}}` : receipt,
  );
  if (tryToPrint(output, () => printLines(values, isList && output.json))) return;
  output.say(
    "Standard output could not be written completely. To print the stored receipts, use receipt list ACCOUNT.",
  );
  context.setExitStatus(1);
}

/** The identifiers that keep one person out, by how the person was named. Under any other the person may come again. */
const keptOutBy: Readonly<Record<PersonReference["kind"], string>> = {
  email: "the same IDs or email addresses; to block a phone as well, run lead erase --phone",
  phone: "the same phone, IDs, or email addresses",
  id: "the same ID, email addresses or phones",
  digest: "that SHA-256, the same IDs, or the same email addresses",
};

function sayErased(output: Output, account: string, all: readonly ErasedPerson[]): void {
  const [one] = all;
  const leads = all.reduce((sum, { erased }) => sum + erased, 0);
  const blocked = `in ${account}. A later import or restore leaves out leads with`;
  if (all.length !== 1 || one === undefined) {
    const found = `${grouped(all.filter(({ erased }) => erased > 0).length)} out of ${grouped(all.length)} persons`;
    const identifiers = "the identifiers of the list, the same IDs, or the same email addresses";
    output.say(`Erased ${leadsText(leads)} of ${found} ${blocked} ${identifiers}.`);
  } else if (leads > 0) output.say(`Erased ${leadsText(leads)} ${blocked} ${keptOutBy[one.person.kind]}.`);
  else {
    const { kind } = one.person;
    const given = kind === "digest" ? "that SHA-256" : kinds[kind].given;
    output.say(`No lead of this person was found ${blocked} ${given}.${kind === "phone" ? ` ${otherPhones}` : ""}`);
  }
}

/** Says what the receipts leave open: several people under one name, and gaps of the ledger. */
function sayUncertain(output: Output, erased: readonly ErasedPerson[]): void {
  const several = severalText(erased);
  if (several !== null)
    output.say(`Warning: ${several} All of them are erased and blocked. To unblock one, use lead unblock.`);
  const gaps = new Set(erased.flatMap(({ receipt }) => readReceipt(receipt).gaps.map(gapText)));
  for (const text of gaps) output.say(text);
}

function sayRemaining(output: Output, { blocked, mentioning }: RemainingLeads): void {
  if (blocked.length > 0) {
    output.say(
      `${othersHold(blocked.length)} an email address or phone of an erased person, and was kept; an import would now leave ` +
        `such a lead out. If it is the same person, run lead erase --id; if not, run lead unblock. To show a lead, run lead find ` +
        `--id: ${idsText(blocked)}.`,
    );
  }
  if (mentioning.length === 0) return;
  output.say(
    `${othersHold(mentioning.length)} an email address or phone of an erased person in another field, such as page_url, and was kept. ` +
      `To erase them as well, pass --mentions with that address or phone: ${idsText(mentioning)}.`,
  );
}

const maxAccounts = 3;

interface OtherCopies extends Pick<RemainingLeads, "accounts"> {
  readonly account: string;
  readonly matcher: Erasure["matcher"];
  readonly erased: readonly ErasedPerson[];
}

/** Reports other copies of the person's data, and files that were not searched. */
async function warnOfOtherCopies(
  context: CommandContext,
  { account, accounts, matcher, erased }: OtherCopies,
): Promise<void> {
  const { output } = context;
  // Leads of this account were already reported.
  const others = accounts.filter((name) => name !== account);
  const shown = firstOf(others.map(printable), maxAccounts, " and ");
  if (others.length > 0)
    output.say(`Other leads of ${shown} have the same email address, phone, or ID, and were kept.`);
  else if (accounts.length === 0) output.say("No other lead has the email address, phone, or ID in readable form.");
  for (const name of givenNamesWith(context.database().read, matcher))
    output.say(
      `The name of a file, pixel, key, source, or account contains an erased identifier, and was kept: ${printable(name)}`,
    );
  await sayCopies(context, matcher);
  // All receipts name the same files.
  for (const file of erased.slice(0, 1).flatMap(({ receipt }) => readReceipt(receipt).rejects_files)) {
    if ((await searchFile(file, matcher)) === false) continue;
    output.say(`An import wrote rejected rows to this file. Search it for the person: ${printable(file)}`);
  }
  output.say(notSearched);
  if (erased.some(({ person }) => person.kind === "digest"))
    output.say("Not searched for a SHA-256 itself: files, labels, and names.");
  output.say("Not searched: exports, logs, and backups (a restore repeats the erasure).");
}
