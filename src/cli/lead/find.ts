/** bun admin lead find: what is held on one person, as it is served. */
import type { Command } from "commander";
import { accountOf, jsonCommand, outputOf, type Surroundings } from "../command.ts";
import { type PersonOptions, readPerson, withPerson } from "./person.ts";
import { grouped } from "./progress.ts";

export function findCommand(around: Surroundings): Command {
  return withPerson(jsonCommand("find"))
    .description("print what is held on one person, newest first, one lead a line")
    .argument("<ACCOUNT>", "id or exact name")
    .action(async (idOrName: string, options: PersonOptions) => {
      const account = accountOf(around.store(), idOrName);
      const person = await readPerson(around, options);
      const documents = around.store().people.find(account, person, around.now());
      const output = outputOf(options);
      output.result({ leads: documents.map((document): unknown => JSON.parse(document)) }, documents.join("\n"));
      if (documents.length > 0) output.say(`${leadsText(documents.length)} of this person in ${account.name}.`);
      else output.say(`Nothing is held on this person in ${account.name}.`);
    });
}

export function leadsText(count: number): string {
  return `${grouped(count)} lead${count === 1 ? "" : "s"}`;
}
