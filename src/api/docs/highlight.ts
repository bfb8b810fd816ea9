/** Colors code as HTML, with highlight.js and the languages of docs/api.md. */

/** The part of highlight.js that is used. */
interface Highlighter {
  registerLanguage(name: string, definition: unknown): void;
  highlight(code: string, options: { language: string }): { readonly value: string };
}

// Its types would add those of a browser to the whole program, so it is required and not imported.
const highlighter: Highlighter = require("highlight.js/lib/core");
const definitions: Readonly<Record<string, unknown>> = {
  sh: require("highlight.js/lib/languages/bash"),
  ts: require("highlight.js/lib/languages/typescript"),
  python: require("highlight.js/lib/languages/python"),
  go: require("highlight.js/lib/languages/go"),
  php: require("highlight.js/lib/languages/php"),
  json: require("highlight.js/lib/languages/json"),
};
for (const [name, definition] of Object.entries(definitions)) highlighter.registerLanguage(name, definition);

/** The languages of programs, by the word behind the fence, with the names that readers see. */
export const languages: Readonly<Record<string, string>> = {
  sh: "curl",
  ts: "TypeScript",
  python: "Python",
  go: "Go",
  php: "PHP",
};

/** Returns code of a language as HTML. */
export function highlighted(code: string, language: string): string {
  return highlighter.highlight(code, { language }).value;
}
