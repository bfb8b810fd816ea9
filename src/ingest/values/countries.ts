/** Countries, as far as states need them: whether a row is from the United States, and so its state one of theirs. */

/** Files are written in these languages; each has its own name for the United States. */
const languages = ["en", "es", "fr", "de", "pt", "it", "nl", "pl", "sv", "ru", "ja", "zh"];
/** What the lists of names leave out. */
const furtherNames = ["USA", "United States of America", "America", "Estados Unidos de América", "EE. UU.", "840"];

/** As nearly all files write it. */
const usual = /^(?:US|USA|United States)$/;

/** Islands whose country is written as their own, though they are under the US and have a state code. */
const territories = ["AS", "GU", "MP", "PR", "VI"];

const namesOfStates = new Set([...namesOf("US"), ...furtherNames].map(key));
const territoryOf = new Map(territories.flatMap((code) => namesOf(code).map((name) => [key(name), code] as const)));

/** Whether a state of the US can be meant in a row of this country: the US, or the territory that the state names. */
export function hasState(country: string, state: string): boolean {
  if (usual.test(country)) return true;
  const name = key(country);
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
