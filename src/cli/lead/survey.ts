/** What an erasure would take: printed by a dry run, and asked about where one name takes in several people. */
import type { Survey } from "../../store/privacy.ts";
import { canAsk, confirm } from "../terminal/confirm.ts";
import { grouped, leadsText } from "../terminal/numbers.ts";
import type { Output } from "../terminal/output.ts";
import type { PersonOptions } from "./person.ts";
import type { ListedPerson } from "./person-list.ts";
import { oneAlone, severalText } from "./several-people.ts";

interface Options extends PersonOptions {
  readonly mentions?: boolean;
}

/** What --dry-run says. */
export function printSurvey(
  output: Output,
  persons: readonly ListedPerson[],
  survey: Survey,
  { list, mentions }: Options,
): void {
  const kinds = Object.entries(
    Object.groupBy(persons.keys().toArray(), (place) => persons[place]?.reference.kind ?? ""),
  );
  const sumOf = (counts: readonly number[], places: readonly number[]) =>
    places.reduce((sum, place) => sum + (counts[place] ?? 0), 0);
  const counts = kinds.map(([kind, places = []]) => ({
    kind,
    persons: places.length,
    leads: sumOf(survey.leads, places),
    people: sumOf(survey.people, places),
  }));
  const onList = (count: number) => (list === undefined ? "" : ` by ${grouped(count)} on the list`);
  const lines = counts.map(({ kind, persons, leads }) => `${kind}: ${leadsText(leads)}${onList(persons)}`);
  output.result({ kinds: counts, mentions: survey.mentions }, lines.join("\n"));
  const count = survey.mentions.length;
  const others = `${leadsText(count)} ${count === 1 ? "holds" : "hold"} their addresses elsewhere`;
  output.say(`Nothing was changed. ${others}, and would ${mentions === true ? "go" : "stay"}.`);
  const several = severalTextOf(persons, survey);
  if (several !== null) output.say(`Warning: ${several} All of them would go. ${oneAlone}`);
}

/** Asks on a terminal before several people go by one name; throws a UserError where the answer is no. */
export async function askAboutSeveral(persons: readonly ListedPerson[], survey: () => Survey): Promise<void> {
  // All leads of an e-mail address are of one person.
  const mayBeShared = persons.some(({ reference: { kind } }) => kind === "phone" || kind === "digest");
  if (!mayBeShared || !canAsk()) return;
  const several = severalTextOf(persons, survey());
  if (several !== null) await confirm(`${several}\nErase all of them?`, {}, oneAlone);
}

function severalTextOf(persons: readonly ListedPerson[], { leads, people }: Survey): string | null {
  return severalText(
    persons.map(({ line }, place) => ({ line, leads: leads[place] ?? 0, people: people[place] ?? 0 })),
  );
}
