/** bun admin lead erase: removes persons, their bytes included, and keeps them out. */
import type { Command } from "commander";
import { statusAfter } from "../../operator/ending-signals.ts";
import { UserError } from "../../operator/user-error.ts";
import type { Erasure, PersonReference, Survey } from "../../store/privacy.ts";
import { accountOf } from "../arguments.ts";
import { type CommandContext, jsonCommand, outputOf } from "../command.ts";
import { grouped, leadsText } from "../terminal/numbers.ts";
import type { Output } from "../terminal/output.ts";
import { throttle } from "../terminal/progress.ts";
import { idsText, othersHold } from "./mentions.ts";
import { type PersonOptions, readPersons, withPerson } from "./person.ts";
import type { ListedPerson } from "./person-list.ts";
import { createReceipts, type Receipts } from "./receipts.ts";
import { sayTraces } from "./traces.ts";

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
      if (options.dryRun === true)
        return printSurvey(output, persons, people.survey(account, references, onRead), options);
      const how = { withMentions: options.mentions === true, onRead };
      const erasure = people.erase(account, references, how, context.now());
      const done = await eraseAll(context, erasure, persons.length, createReceipts(output, options.list !== undefined));
      sayErased(output, account.name, done, references[0]?.kind ?? "email");
      sayMentions(output, erasure.mentions());
      sayTraces(output, context.databasePath, erasure.removeTraces());
      output.say(
        "Out of reach: exports, rejects files, what lies in an inbox, logs, and backups made before (a restore erases again).",
      );
      for (const file of done.rejectsFiles)
        output.say(`An import wrote rejected rows there, look for the person: ${file}`);
    });
}

interface Done {
  readonly persons: number;
  readonly leads: number;
  readonly held: number;
  readonly rejectsFiles: readonly string[];
}

/** Erases all persons and prints their receipts. Each person is gone with the receipt, whatever happens later. */
async function eraseAll(context: CommandContext, erasure: Erasure, persons: number, receipts: Receipts): Promise<Done> {
  const rejectsFiles: readonly string[] = [];
  const done = { persons: 0, leads: 0, held: 0, rejectsFiles };
  // An import that runs meanwhile has a person erased twice.
  const [places, heldPlaces] = [new Set<number>(), new Set<number>()];
  let signal = await context.process.pause(0);
  if (signal === null) {
    for (const step of erasure.steps()) {
      for (const one of step) {
        receipts.add(one);
        places.add(one.place);
        if (one.erased > 0) heldPlaces.add(one.place);
      }
      done.leads += step.reduce((sum, { erased }) => sum + erased, 0);
      done.persons = places.size;
      done.held = heldPlaces.size;
      done.rejectsFiles = step[0]?.receipt.rejects_files ?? done.rejectsFiles;
      receipts.progress(done.persons, persons);
      signal = await context.process.pause(0);
      if (signal !== null) break;
    }
  }
  receipts.end();
  if (signal === null) return done;
  throw new UserError(
    `Stopped: ${grouped(done.persons)} of ${grouped(persons)} have a receipt, are erased and kept out, and the rest is as it was.`,
    "Run it again to complete it.",
    statusAfter[signal],
  );
}

/** What keeps one person out, by how the person was named. Under anything else the person may come again. */
const keptOutBy: Readonly<Record<PersonReference["kind"], string>> = {
  email: "the same e-mail addresses; --phone keeps out a phone as well",
  phone: "the same phone or e-mail addresses",
  id: "the same id, e-mail addresses or phones",
  digest: "that SHA-256 or the same e-mail addresses",
};

function sayErased(
  output: Output,
  account: string,
  { persons, leads, held }: Done,
  kind: PersonReference["kind"],
): void {
  const by = persons === 1 ? keptOutBy[kind] : "what the list names or the same e-mail addresses";
  const blocked = `in ${account}. A later import or restore leaves out leads with ${by}.`;
  if (persons === 1 && leads === 0) output.say(`No lead of this person was found ${blocked}`);
  else if (persons === 1) output.say(`Erased ${leadsText(leads)} ${blocked}`);
  else output.say(`Erased ${leadsText(leads)} of ${grouped(held)} out of ${grouped(persons)} persons ${blocked}`);
}

function sayMentions(output: Output, ids: readonly string[]): void {
  if (ids.length === 0) return;
  output.say(
    `${othersHold(ids.length)} an address or phone of the erased, such as in page_url, and stayed; ` +
      `--mentions with that address or phone erases them as well: ${idsText(ids)}.`,
  );
}

function printSurvey(
  output: Output,
  persons: readonly ListedPerson[],
  survey: Survey,
  { list, mentions }: Options,
): void {
  const kinds = Object.entries(
    Object.groupBy(persons.keys().toArray(), (place) => persons[place]?.reference.kind ?? ""),
  );
  const counts = kinds.map(([kind, places = []]) => ({
    kind,
    persons: places.length,
    leads: places.reduce((sum, place) => sum + (survey.leads[place] ?? 0), 0),
  }));
  const onList = (count: number) => (list === undefined ? "" : ` by ${grouped(count)} on the list`);
  const lines = counts.map(({ kind, persons, leads }) => `${kind}: ${leadsText(leads)}${onList(persons)}`);
  output.result({ kinds: counts, mentions: survey.mentions }, lines.join("\n"));
  const count = survey.mentions.length;
  const others = `${leadsText(count)} ${count === 1 ? "holds" : "hold"} their addresses elsewhere`;
  output.say(`Nothing was changed. ${others}, and would ${mentions === true ? "go" : "stay"}.`);
}
