/** Where the records of a document stand, of which only the beginning is held. */
import { parseJson } from "./ndjson.ts";

/** A list or an object that has begun. */
interface Begun {
  readonly name: string;
  readonly isList: boolean;
  /** How many objects lie in it. */
  objects: number;
}

/** The names around the list of objects in which a beginning ends; without one, around the object with most objects. */
export function placeOfRecords(beginning: string): string[] {
  const begun = unfinished(beginning);
  const list = begun.findIndex(({ isList, objects }) => isList && objects > 0);
  const most = Math.max(...begun.map(({ objects }) => objects));
  const place = list === -1 ? begun.findIndex(({ objects }) => objects === most) : list;
  // The document itself has no name.
  return begun.slice(1, place + 1).map(({ name }) => name);
}

/** The lists and objects in which a text ends, the outermost first. */
function unfinished(text: string): Begun[] {
  const begun: Begun[] = [];
  let name = "";
  let before = "";
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*(?:"|$)|[{}[\]:]/g)) {
    if (token === "{" || token === "[") {
      const around = begun.at(-1);
      if (around !== undefined && token === "{") around.objects++;
      begun.push({ name, isList: token === "[", objects: 0 });
    }
    if (token === "}" || token === "]") begun.pop();
    if (token === ":" && before.startsWith('"')) name = String(parseJson(before));
    before = token;
  }
  return begun;
}
