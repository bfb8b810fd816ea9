/** Words about several persons: what a dry run prints, and warnings if what names one person names several people. */
import type { Survey } from "../../privacy/held.ts";
import { andMore, grouped, leadsText } from "../terminal/numbers.ts";
import type { Output } from "../terminal/output.ts";
import { canAsk, confirm } from "../terminal/prompt.ts";
import type { ListedPerson } from "./person-list.ts";

/** What a line of a list, or an option, has found. */
export interface Found {
  readonly line: number;
  readonly leads: number;
  /** How many different people the leads name. */
  readonly people: number;
}

/** Nobody reads more IDs than this; --dry-run --json prints all of them. */
const maxIds = 100;
const maxLines = 10;
const how = "by their email addresses, else by their names";

/** What to do if one person alone is meant. */
const oneAlone =
  "If you mean one of them alone, give an email address instead. The ID of a lead would keep out its phone as well, and with it the others.";

export function othersHold(count: number): string {
  return `Another ${grouped(count)} ${count === 1 ? "lead holds" : "leads hold"}`;
}

export function idsText(ids: readonly string[]): string {
  return ids.slice(0, maxIds).join(", ") + andMore(ids.length, maxIds);
}

/** Says that leads seem to name several people, by the lines of a list; null if each names one person. */
export function severalText(found: readonly Found[]): string | null {
  const shared = found.filter(({ people }) => people > 1);
  const [one] = shared;
  if (one === undefined) return null;
  if (found.length === 1) return `These leads seem to name ${grouped(one.people)} different people (${how}).`;
  const lines = [...new Set(shared.map(({ line }) => line))];
  const named = `${lines.slice(0, maxLines).join(", ")}${andMore(lines.length, maxLines)}`;
  const which = lines.length === 1 ? "Line" : "Each of the lines";
  return `${which} ${named} of the list seems to name several people (${how}).`;
}

/** Prints what an erasure would take. */
export function printSurvey(
  output: Output,
  persons: readonly ListedPerson[],
  survey: Survey,
  { list, mentions }: { readonly list?: string; readonly mentions?: boolean },
): void {
  const found = persons.map(({ line, reference }, place) => ({
    kind: reference.kind,
    line,
    leads: survey.leads[place] ?? 0,
    people: survey.people[place] ?? 0,
  }));
  const kinds = [...Map.groupBy(found, ({ kind }) => kind)].map(([kind, some]) => ({
    kind,
    persons: some.length,
    leads: some.reduce((sum, { leads }) => sum + leads, 0),
    people: some.reduce((sum, { people }) => sum + people, 0),
  }));
  const onList = (count: number) => (list === undefined ? "" : ` by ${grouped(count)} on the list`);
  const lines = kinds.map(({ kind, persons, leads }) => `${kind}: ${leadsText(leads)}${onList(persons)}`);
  output.result({ kinds, mentions: survey.mentions }, lines.join("\n"));
  const count = survey.mentions.length;
  const others = `${leadsText(count)} ${count === 1 ? "holds" : "hold"} their addresses elsewhere`;
  output.say(`Nothing was changed. ${others}, and would ${mentions === true ? "go" : "stay"}.`);
  const several = severalText(found);
  if (several !== null) output.say(`Warning: ${several} All of them would go. ${oneAlone}`);
}

/** Asks on a terminal before several people are erased by one name. Throws a UserError if the answer is no. */
export async function askAboutSeveral(persons: readonly ListedPerson[], survey: () => Survey): Promise<void> {
  // All leads of an email address are of one person.
  const mayBeShared = persons.some(({ reference: { kind } }) => kind === "phone" || kind === "digest");
  if (!mayBeShared || !canAsk()) return;
  const { leads, people } = survey();
  const several = severalText(
    persons.map(({ line }, place) => ({ line, leads: leads[place] ?? 0, people: people[place] ?? 0 })),
  );
  if (several !== null) await confirm(`${several}\nErase all of them?`, {}, oneAlone);
}
