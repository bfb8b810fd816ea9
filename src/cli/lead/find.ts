/** bun admin lead find: the leads of a person, or of each person of a list, and who received them. */

import type { Command } from "commander";
import { examineSettings } from "../../config.ts";
import type { Lead } from "../../contract/lead.ts";
import { printable } from "../../printable.ts";
import { countPeople } from "../../store/different-people.ts";
import { keptDays, type Received } from "../../store/disclosures.ts";
import type { Held } from "../../store/privacy.ts";
import { accountOf } from "../arguments.ts";
import { type CommandContext, jsonCommand, outputOf } from "../command.ts";
import { grouped, leadsText } from "../terminal/numbers.ts";
import { forTerminal, type Output, print } from "../terminal/output.ts";
import { throttle } from "../terminal/progress.ts";
import { idsText, othersHold } from "./mentions.ts";
import { given, otherPhones, type PersonOptions, readPersons, withPerson } from "./person.ts";
import type { ListedPerson } from "./person-list.ts";
import { type Found, severalText } from "./several-people.ts";

export function findCommand(context: CommandContext): Command {
  return withPerson(jsonCommand("find"))
    .description("print the leads of one person, newest first, or of each person of a list")
    .argument("<ACCOUNT>", "id or exact name")
    .action(async (idOrName: string, options: PersonOptions) => {
      const account = accountOf(context, idOrName);
      const persons = await readPersons(context, options);
      const output = outputOf(options);
      const say = throttle(output);
      const references = persons.map(({ reference }) => reference);
      const onRead = (leads: number) => say(() => `${grouped(leads)} leads read`);
      const { people } = context.store();
      const held = people.find(account, references, context.now(), onRead);
      if (options.list !== undefined) printList(output, persons, held);
      else {
        for (const one of held) printOne(output, account.name, one, options.phone !== undefined);
        for (const { kind, value } of references) {
          if (kind === "digest" || !people.isBlocked(account, { kind, value })) continue;
          output.say(`An erasure keeps ${given[kind]} out of later imports; lead unblock lifts that.`);
        }
      }
      if (examineSettings().config?.disclosures === false)
        output.say("DISCLOSURES is off: who receives a lead is not written down.");
      output.say(
        "Not looked through: other accounts, exports, rejects files, inboxes, waiting deliveries, logs and backups.",
      );
    });
}

function printOne(output: Output, account: string, { leads, received, mentions }: Held, byPhone: boolean): void {
  const documents = leads.map((document): Lead => JSON.parse(document));
  const value = { leads: documents, received: received.map(withoutPrefix) };
  const texts = leads.flatMap((document, place) => [
    forTerminal(document),
    ...received.filter(({ id }) => id === documents[place]?.id).map((one) => recipientText(account, one)),
  ]);
  output.result(value, texts.join("\n"));
  const them = leads.length === 1 ? "it" : "them";
  const nobody =
    received.length === 0 ? `, and no key is known to have received ${them} in the last ${keptDays} days` : "";
  if (leads.length > 0) output.say(`${leadsText(leads.length)} of this person in ${account}${nobody}.`);
  else output.say(`No lead of this person was found in ${account}.${byPhone ? ` ${otherPhones}` : ""}`);
  saySeveral(output, [{ line: 1, leads: leads.length, people: countPeople(documents) }]);
  if (mentions.length > 0) {
    const hold = `${othersHold(mentions.length)} an address or phone of this person, such as in page_url`;
    output.say(`${hold}; find --id shows each: ${idsText(mentions)}.`);
  }
}

function recipientText(account: string, { label, prefix, first, last, possibly }: Received): string {
  const key = `key ${printable(label ?? "without a label")} (${prefix}…) of ${printable(account)}`;
  const days = first === last ? `on ${first}` : `from ${first} to ${last}`;
  return `  ${possibly ? "possibly received" : "received"} by ${key} ${days}`;
}

function withoutPrefix({ id, key, label, first, last, possibly }: Received) {
  return { id, key, label, first, last, possibly };
}

/** A line for each person, printed at once: the result for a long list may not fit into memory. */
function printList(output: Output, persons: readonly ListedPerson[], held: Iterable<Held>): void {
  const found: Found[] = [];
  const others = new Set<string>();
  for (const { leads, received, imports, mentions } of held) {
    const rest = JSON.stringify({ received: received.map(withoutPrefix), imports, mentions }).slice(1);
    const line = persons[found.length]?.line ?? 0;
    const text = forTerminal(`{"line":${line},"leads":[${leads.join(",")}],${rest}`);
    if (!print(output.json ? `${found.length === 0 ? "[" : ","}${text}\n` : `${text}\n`)) return;
    found.push({ line, leads: leads.length, people: countPeople(leads.map((document): Lead => JSON.parse(document))) });
    for (const id of mentions) others.add(id);
  }
  if (output.json) print("]\n");
  sayListed(output, found, others.size);
}

function sayListed(output: Output, found: readonly Found[], others: number): void {
  const held = found.filter(({ leads }) => leads > 0);
  output.say(`${grouped(held.length)} of ${grouped(found.length)} have leads.`);
  saySeveral(output, found);
  if (others > 0) output.say(`${othersHold(others)} an address or phone of them; "mentions" has the ids.`);
}

function saySeveral(output: Output, found: readonly Found[]): void {
  const several = severalText(found);
  if (several !== null)
    output.say(`Warning: ${several} Hand nobody the leads of another person: find each by an e-mail address or an id.`);
}
