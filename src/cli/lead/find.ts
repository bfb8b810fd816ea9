/** bun admin lead find: prints the personal data on one person, or on each person of a list. */

import { readDocument } from "../../contract/stored-lead.ts";
import { findPersons, type PersonalData } from "../../privacy/find.ts";
import { identifiersIn } from "../../privacy/identifiers.ts";
import { gapText } from "../../privacy/sent/gaps.ts";
import { keptDays } from "../../privacy/sent/ledger.ts";
import { openSuppressions } from "../../privacy/suppressions.ts";
import { printable } from "../../runtime/user-error.ts";
import { commandOnAccount } from "../arguments.ts";
import type { AnyCommand, CommandContext } from "../command.ts";
import { grouped, leadsText } from "../terminal/numbers.ts";
import { forTerminal, type Output, print } from "../terminal/output.ts";
import { throttle } from "../terminal/progress.ts";
import {
  type Found,
  idsText,
  kinds,
  notSearched,
  otherPhones,
  othersHold,
  readPersons,
  severalText,
  withPerson,
} from "./person.ts";

/** The command `lead find`. Finding nobody is not a failure. It records the search in the audit, without the person. */
export function findCommand(context: CommandContext): AnyCommand {
  return withPerson(
    commandOnAccount(context, "find", [
      "lead find acme --email dana@example.com",
      "lead find acme --phone - < phone.txt",
    ]),
  )
    .description("print the leads of a person, newest first, or of each person on a list")
    .addHelpText("after", "\nPass exactly one of --email, --phone, --id, and --list.")
    .action(async (account, options) => {
      const persons = await readPersons(context, account, options);
      const say = throttle(context.output);
      const onRead = (leads: number) => say(() => `${grouped(leads)} leads read`);
      const database = context.database();
      const found = findPersons(database, account, persons, context.now(), onRead);
      if (options.list !== undefined) await printList(context.output, found);
      else {
        for await (const one of found) printOne(context.output, account.name, one, options.phone !== undefined);
        const identifiers = persons.flatMap(identifiersIn);
        const [{ kind } = {}] = identifiers;
        if (kind !== undefined && openSuppressions(database.read, account)?.(identifiers))
          context.output.say(
            `An erasure blocks ${kinds[kind].given} in later imports. To remove the block, use lead unblock.`,
          );
      }
      context.output.say(notSearched);
      context.output.say(
        "Not searched: other accounts, exports, rejects files, inboxes, pending deliveries, logs, and backups.",
      );
    });
}

type Received = PersonalData["received"][number];

function printOne(output: Output, account: string, person: PersonalData, byPhone: boolean): void {
  const { leads, received, gaps, mentions } = person;
  const documents = leads.map(readDocument);
  const texts = leads.flatMap((document, index) => [
    forTerminal(document),
    ...received.filter(({ id }) => id === documents[index]?.id).map((one) => recipientText(account, one)),
  ]);
  const removed = received.filter(({ id }) => !documents.some((document) => document.id === id));
  const all = [...texts, ...removed.map((one) => recipientText(account, one))];
  output.result({ leads: documents, received: received.map(withoutPrefix), gaps }, all.join("\n"));
  const isNobodyKnown = received.length === 0 && gaps.length === 0;
  const them = leads.length === 1 ? "it" : "them";
  const nobody = `, and no key is known to have received ${them} in the last ${keptDays} days`;
  if (leads.length > 0)
    output.say(`${leadsText(leads.length)} of this person in ${account}${isNobodyKnown ? nobody : ""}.`);
  else output.say(`No lead of this person was found in ${account}.${byPhone ? ` ${otherPhones}` : ""}`);
  if (removed.length > 0)
    output.say("A lead with this ID was undone, or lost in a restore. The output names the keys that received it.");
  for (const gap of gaps) output.say(gapText(gap));
  saySeveral(output, [person]);
  if (mentions.length > 0) {
    const hold = `${othersHold(mentions.length)} an email address or phone of this person, such as in page_url`;
    output.say(`${hold}. To show each, run lead find --id: ${idsText(mentions)}.`);
  }
}

function recipientText(account: string, { label, prefix, first, last }: Received): string {
  const key = `key ${printable(label ?? "without a label")} (${prefix}…) of ${printable(account)}`;
  const days = first === last ? `on ${first}` : `from ${first} to ${last}`;
  return `  received by ${key} ${days}`;
}

function withoutPrefix({ id, key, label, first, last }: Received) {
  return { id, key, label, first, last };
}

/** Prints a line for each person at once: the result for a long list may not fit into memory. */
async function printList(output: Output, all: AsyncIterable<PersonalData>): Promise<void> {
  const found: Found[] = [];
  const others = new Set<string>();
  const gapTexts = new Set<string>();
  for await (const one of all) {
    const begin = found.length === 0 ? "[" : ",";
    if (!print(`${output.json ? begin : ""}${forTerminal(lineOf(one))}\n`)) return;
    found.push({ person: one.person, people: one.people });
    for (const id of one.mentions) others.add(id);
    for (const gap of one.gaps) gapTexts.add(gapText(gap));
  }
  if (output.json) print("]\n");
  sayListed(output, found, others.size, gapTexts);
}

/** Returns a line of JSON with the leads as they are stored. */
function lineOf({ person, leads, received, gaps, imports, mentions }: PersonalData): string {
  const rest = JSON.stringify({ received: received.map(withoutPrefix), gaps, imports, mentions }).slice(1);
  return `{"line":${person.line},"leads":[${leads.join(",")}],${rest}`;
}

function sayListed(output: Output, found: readonly Found[], others: number, gapTexts: ReadonlySet<string>): void {
  output.say(`${grouped(found.filter(({ people }) => people > 0).length)} of ${grouped(found.length)} have leads.`);
  for (const text of gapTexts) output.say(text);
  saySeveral(output, found);
  if (others > 0) output.say(`${othersHold(others)} one of their email addresses or phones; "mentions" lists the IDs.`);
}

function saySeveral(output: Output, found: readonly Found[]): void {
  const several = severalText(found);
  if (several !== null)
    output.say(`Warning: ${several} Do not give a person the leads of another: find each by email address or ID.`);
}
