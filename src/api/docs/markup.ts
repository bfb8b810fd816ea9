/** Pieces of HTML for the page at /docs. */
import type { Language, Programs } from "./programs.ts";

/** Prose in Markdown as HTML. */
export function prose(markdown: string): string {
  return Bun.markdown.html(markdown).trim();
}

interface Definition {
  readonly term: string;
  readonly text: string;
  /** What kind of value it is. */
  readonly type?: string;
}

/** A list of names and what they mean. */
export function definitions(list: readonly Definition[]): string {
  const rows = list.map(
    ({ term, text, type }) =>
      `<div><dt><code>${Bun.escapeHTML(term)}</code>${type === undefined ? "" : `<span class="type">${Bun.escapeHTML(type)}</span>`}</dt>` +
      `<dd>${Bun.escapeHTML(text)}</dd></div>`,
  );
  return `<dl>\n${rows.join("\n")}\n</dl>`;
}

const names: Readonly<Record<Language, string>> = { curl: "curl", typescript: "TypeScript", python: "Python" };

/** One program in several languages. Radio buttons choose the one that is shown, without JavaScript. */
export function programs(topic: string, all: Programs): string {
  const languages = Object.entries(all) as [Language, string][]; // Object.entries forgets the names.
  const choices = languages.map(([language], position) => {
    const id = `${topic}-${language}`;
    return (
      `<input type="radio" name="${topic}" id="${id}" value="${language}"${position === 0 ? " checked" : ""}>` +
      `<label for="${id}">${names[language]}</label>`
    );
  });
  const blocks = languages.map(
    ([language, code]) =>
      `<div class="code" data-language="${language}"><pre tabindex="0" role="region" aria-label="${names[language]}, ${topic}"><code>${tint(code.trim())}</code></pre></div>`,
  );
  return `<fieldset class="tabs">\n<legend>Language</legend>\n${choices.join("\n")}\n${blocks.join("\n")}\n</fieldset>`;
}

/** What an endpoint answers, as it is read in a terminal with jq. */
export function answer(path: string, body: object): string {
  return `<pre class="answer" tabindex="0" role="region" aria-label="Answer of GET ${path}"><code>${tint(JSON.stringify(body, null, 2))}</code></pre>`;
}

const words =
  "async await break const def except for from function if import in let new not of raise return throw try while with yield";
const token = new RegExp(
  `(?<comment>(?<=^|\\n|\\s{2})(?:#|//) [^\\n]*)|(?<text>"(?:\\\\.|[^"\\\\])*"|\`(?:\\\\.|[^\`\\\\])*\`)|\\b(?<word>${words.split(" ").join("|")})\\b`,
  "g",
);

/** Code as HTML in which comments, texts and words of the language have a colour of their own. */
function tint(code: string): string {
  let html = "";
  let done = 0;
  for (const { index, 0: found, groups = {} } of code.matchAll(token)) {
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined);
    html += `${Bun.escapeHTML(code.slice(done, index))}<span class="${kind}">${Bun.escapeHTML(found)}</span>`;
    done = index + found.length;
  }
  return html + Bun.escapeHTML(code.slice(done));
}

/** A card with a person. */
const drawing =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3.5" fill="#0a58a8"/>' +
  '<circle cx="8" cy="6" r="2.4" fill="#fff"/><path d="M3.4 13c.5-2.7 2.3-4 4.6-4s4.1 1.3 4.6 4z" fill="#fff"/></svg>';

/** The icon of the pages in a browser's tab, as an address that needs no request. */
export const iconAddress = `data:image/svg+xml,${encodeURIComponent(drawing)}`;
