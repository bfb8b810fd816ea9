/** The page at /docs, rendered from docs/api.md. It is one response, needs no other host, and reads well without JavaScript. */
import { hash } from "node:crypto";
import { version } from "../../../package.json";
import { publicPaths } from "../../contract/paths.ts";
import baseStyle from "./base.css" with { type: "text" };
import script from "./page.browser.js" with { type: "text" };
import pageStyle from "./page.css" with { type: "text" };
import { inCode, referenceText, writtenOrigin } from "./reference.ts";

/** The icon of both pages in a browser's tab: a card with a person, as an address that needs no request. */
const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3.5" fill="#0a58a8"/>' +
    '<circle cx="8" cy="6" r="2.4" fill="#fff"/><path d="M3.4 13c.5-2.7 2.3-4 4.6-4s4.1 1.3 4.6 4z" fill="#fff"/></svg>',
)}`;

interface Page {
  readonly title: string;
  /** Elements of the head that load files of this server. */
  readonly head?: string;
  /** Elements of the head that load nothing. */
  readonly links?: string;
  readonly style: string;
  readonly script: string;
  /** The ID of the main part. */
  readonly main: string;
  readonly body: string;
}

const digestOf = (text: string) => `'sha256-${hash("sha256", text, "base64")}'`;

/** Returns the answer with a page. The browser runs this style and this script, loads what the head names, and nothing else. */
export function htmlPage({ title, head = "", links = "", style, script, main, body }: Page) {
  const own = head === "" ? "" : "'self' ";
  const sources = `style-src ${own}${digestOf(style)}; script-src ${own}${digestOf(script)}; connect-src ${own || "'none'"}`;
  return {
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": `default-src 'none'; ${sources}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      "Referrer-Policy": "no-referrer",
      "Cache-Control": "no-cache",
    },
    body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${icon}">
${head}${links}
<style>${style}</style>
</head>
<body>
<a class="skip unseen" href="#${main}">Skip to the ${main}</a>
${body}
<script type="module">${script}</script>
</body>
</html>
`,
  };
}

interface Heading {
  readonly level: string;
  readonly id: string;
  readonly title: string;
}

/** Renders the page of the server at an origin, which its programs call. Each error is at `#` and its code. */
export function docsPage(origin: string) {
  const { html, headings } = render(origin);
  const items = headings.map(({ level, id, title }) => `<li class="level-${level}"><a href="#${id}">${title}</a></li>`);
  const { docs, docsText, explorer, openapi } = publicPaths;
  const body = `<nav aria-label="Contents">
<a href="${docs}"><strong>Leadfile API</strong></a><br>
<span>${version} · <a href="${explorer}">try it</a> · <a href="${openapi}">openapi.json</a> · <a href="${docsText}">docs.md</a></span>
<ul id="contents">
${items.join("\n")}
</ul>
</nav>
<main id="content" tabindex="-1">
${html}
</main>`;
  const head = `<link rel="alternate" type="text/markdown" href="${docsText}">`;
  return htmlPage({ title: "Leadfile API", links: head, style: baseStyle + pageStyle, script, main: "content", body });
}

const block = String.raw`<pre><code class="language-(\w+)">([\s\S]*?)</code></pre>\s*`;

/**
 * Renders the Markdown. Headings and rows of the reference get an anchor, consecutive programs become tabs, and a wide screen
 * shows the sample after a reference table next to the table.
 */
function render(origin: string): { html: string; headings: Heading[] } {
  const headings: Heading[] = [];
  const parts = new RegExp(`<h([23])>(.*?)</h\\1>|(<table>[\\s\\S]*?</table>)\\s*((?:${block})*)|(?:${block})+`, "g");
  const html = Bun.markdown.html(referenceText()).replaceAll(parts, (found, level, title, table, sample) => {
    const topic = headings.at(-1)?.id ?? "";
    if (table !== undefined && sample === "") return renderTable(table, topic);
    if (table !== undefined) {
      return `<div class="with-sample">\n${renderTable(table, topic)}\n${renderCode(sample, topic, origin)}</div>\n`;
    }
    if (level === undefined) return renderCode(found, topic, origin);
    const id = title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-");
    headings.push({ level, id, title });
    return `<h${level} id="${id}">${title} <a class="anchor" href="#${id}" tabindex="-1" aria-label="Link to ${title}">#</a></h${level}>`;
  });
  return { html: html.replaceAll(writtenOrigin, () => Bun.escapeHTML(origin)), headings };
}

/** Renders a table. Each cell has the label of its column, which is shown where the columns do not fit next to one another. */
function renderTable(table: string, topic: string): string {
  const labels = [...table.matchAll(/<th>(.*?)<\/th>/g)].map(([, label = ""]) => label);
  return table.replaceAll(/<tr>\s*<td>[\s\S]*?<\/tr>/g, (row) => {
    const [, name] = /<td><code>(\w+)<\/code><\/td>/.exec(row) ?? [];
    let column = 0;
    const cells = row.replaceAll(/<td>([\s\S]*?)<\/td>/g, (_, content) => {
      const label = labels[column++] ?? "";
      return `<td${content === "" ? ' class="empty"' : ""} data-label="${label}"><div>${content}</div></td>`;
    });
    return name === undefined ? cells : cells.replace("<tr>", `<tr id="${topic}-${name}" data-name="${name}">`);
  });
}

/** The part of highlight.js that is used, with the languages of docs/api.md. */
interface Highlighter {
  registerLanguage(name: string, definition: unknown): void;
  highlight(code: string, options: { language: string }): { readonly value: string };
}

// An import would add the types of a browser to the whole program, so it is loaded with require.
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

/** The display names of the languages, by the word after the code fence. */
export const languages: Readonly<Record<string, string>> = {
  sh: "curl",
  ts: "TypeScript",
  python: "Python",
  go: "Go",
  php: "PHP",
};

/** Renders blocks of code. Radio buttons choose the language that is shown, without JavaScript. */
function renderCode(blocks: string, topic: string, origin: string): string {
  const programs = [...blocks.matchAll(new RegExp(block, "g"))].map(([, language = "", html = ""]) => {
    // The renderer writes four spaces for each tab.
    const indented = language === "go" ? html.replaceAll(/^(?: {4})+/gm, (tabs) => "\t".repeat(tabs.length / 4)) : html;
    const code = unescapeHtml(indented)
      .trim()
      .replaceAll(writtenOrigin, () => inCode(origin, language));
    const label = language === "json" ? "" : ` role="region" aria-label="${languages[language]}, ${topic}"`;
    const lines = highlighter.highlight(code, { language }).value;
    return {
      language,
      html: `<div class="code" data-language="${language}"><pre tabindex="0"${label}><code>${lines}</code></pre></div>`,
    };
  });
  const html = programs.map((program) => program.html).join("\n");
  if (programs.length === 1 || programs[0]?.language === "json") return html;
  const choices = programs.map(({ language }, index) => {
    const id = `${topic}-${language}`;
    const input = `<input class="unseen" type="radio" name="${topic}" id="${id}" value="${language}"${index === 0 ? " checked" : ""}>`;
    return `${input}<label for="${id}">${languages[language]}</label>`;
  });
  return `<div class="tabs" role="radiogroup" aria-label="Language">${choices.join("")}\n${html}\n</div>\n`;
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', "#39": "'", "#x27": "'", amp: "&" };

function unescapeHtml(html: string): string {
  return html.replaceAll(/&(lt|gt|quot|#39|#x27|amp);/g, (found, name: string) => entities[name] ?? found);
}
