/** JSON that no export is: its text tells, before reading it takes the memory or the stack. */

/** An object takes a hundred bytes and more, even an empty one. No page of leads has so many. */
const mostObjects = 1_000_000;
/** A name that is new takes some three hundred bytes, with the shape of its object. */
const mostNames = 200_000;
/** Whatever walks through a value calls itself for each level. */
const deepest = 1000;

const quote = 34;
const backslash = 92;
const colon = 58;
const opening = [91, 123];
const closing = [93, 125];

/** What a text holds too many of, with how many there may be; null where it can be read. */
export function excessIn(text: string): string | null {
  if (hasTooManyObjects(text)) return "a million objects";
  return hasTooManyNames(text) ? `${mostNames.toLocaleString("en-US")} different names` : null;
}

/** Counted without reading it: braces in its texts count as well. */
function hasTooManyObjects(text: string): boolean {
  return text.length > 2 * mostObjects && countOf("{", text) > mostObjects;
}

/** Names themselves would be a copy of the text. So their hashes are counted, and two that share one count as one. */
function hasTooManyNames(text: string): boolean {
  if (text.length < 5 * mostNames) return false;
  const names = new Set<number>();
  let hash = 0;
  let isInText = false;
  for (let at = 0; at < text.length && names.size <= mostNames; at++) {
    const letter = text.charCodeAt(at);
    if (letter === quote) {
      if (!isInText) hash = 0;
      isInText = !isInText;
    } else if (isInText) {
      hash = (Math.imul(hash, 31) + letter) | 0;
      if (letter === backslash) at++;
    } else if (letter === colon) names.add(hash);
  }
  return names.size > mostNames;
}

/** Whether lists and objects lie more than a thousand deep in one another. */
export function isNestedTooDeep(text: string): boolean {
  if (text.length < 2 * deepest || countOf("[", text) + countOf("{", text) <= deepest) return false;
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < text.length && depth <= deepest; at++) {
    const letter = text.charCodeAt(at);
    if (letter === quote) isInText = !isInText;
    else if (isInText) at += letter === backslash ? 1 : 0;
    else if (opening.includes(letter)) depth++;
    else if (closing.includes(letter)) depth--;
  }
  return depth > deepest;
}

/** How often a letter stands in a text. */
export function countOf(letter: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(letter); at !== -1; at = text.indexOf(letter, at + 1)) count++;
  return count;
}
