/** Filters of jq, the tool with which people make lines out of JSON. */

/** The place in a document: `.data.items`. */
export function placeFilter(path: readonly string[]): string {
  const steps = path.map((name) => (/^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `.${quoted(name)}`));
  return steps.join("") || ".";
}

/** Whoever made the file chose the name, and the filter is pasted into a shell, between single quotes. */
function quoted(name: string): string {
  return JSON.stringify(name).replaceAll("'", "\\u0027");
}

/** Makes a line of each record in the list, or in the object, at a place. */
export function recordsFilter(path: readonly string[]): string {
  return `${placeFilter(path)}[]`;
}
