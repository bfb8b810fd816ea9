/** Countries, as far as states need them: a state of a row from the United States is one of theirs. */

/** Files are written in these languages; each has its own name for the United States. */
const languages = ["en", "es", "fr", "de", "pt", "it", "nl", "pl", "sv", "ru", "ja", "zh"];
/** Names that the lists lack. */
const furtherNames = [
  "USA",
  "United States of America",
  "America",
  "Estados Unidos de América",
  "EE. UU.",
  "840",
  "US of A",
];

/** The usual spellings, checked first. */
const common = /^(?:US|USA|United States)$/;

/** Islands whose country is written as their own, though they are under the US and have a state code. */
const territories = ["AS", "GU", "MP", "PR", "VI"];

const namesOfStates = new Set([...namesOf("US"), ...furtherNames].map(key));
const territoryOf = new Map(territories.flatMap((code) => namesOf(code).map((name) => [key(name), code] as const)));

/** The text of a file that knows no country. */
const unknown = /^[\s\p{P}]*(?:unknown|undefined|null|none|n\/?a|not (?:set|available|provided))?[\s\p{P}]*$/iu;

/**
 * Returns whether a state can be one of the US in a row of this country: the US, the territory that the state names, or an
 * unknown country.
 */
export function hasState(country: string, state: string): boolean {
  if (common.test(country) || unknown.test(country)) return true;
  // A name and its code may occur together, as in United States (US).
  return [country, ...country.split(/[()/,]|\s[-–]\s/)].map(key).some((name) => isOfState(name, state));
}

function isOfState(name: string, state: string): boolean {
  return namesOfStates.has(name) || territoryOf.get(name) === state;
}

function namesOf(code: string): string[] {
  const names = languages.map((language) => new Intl.DisplayNames(language, { type: "region" }).of(code) ?? code);
  return [code, ...names];
}

function key(name: string): string {
  return name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/^the /, "")
    .replaceAll(/[^\p{L}\p{N}]/gu, "");
}
