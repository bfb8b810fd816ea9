/** Countries, as far as states need them: whether a row is from the United States, and so its state one of theirs. */

/** Files are written in these languages; each has its own name for the United States. */
const languages = ["en", "es", "fr", "de", "pt", "it", "nl", "pl", "sv", "ru", "ja", "zh"];
/** What the lists of names leave out. */
const furtherNames = [
  "USA",
  "United States of America",
  "America",
  "Estados Unidos de América",
  "EE. UU.",
  "840",
  "US of A",
];

/** As nearly all files write it. */
const usual = /^(?:US|USA|United States)$/;

/** Islands whose country is written as their own, though they are under the US and have a state code. */
const territories = ["AS", "GU", "MP", "PR", "VI"];

const namesOfStates = new Set([...namesOf("US"), ...furtherNames].map(key));
const territoryOf = new Map(territories.flatMap((code) => namesOf(code).map((name) => [key(name), code] as const)));

/** What a file says where it knows no country. */
const unknown = /^[\s\p{P}]*(?:unknown|undefined|null|none|n\/?a|not (?:set|available|provided))?[\s\p{P}]*$/iu;

/**
 * Whether a state of the US can be meant in a row of this country: the US, or the territory that the state names. Where the
 * country is not known, it can.
 */
export function hasState(country: string, state: string): boolean {
  if (usual.test(country) || unknown.test(country)) return true;
  // A name and its code may stand together, as in United States (US).
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
