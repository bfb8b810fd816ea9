/** The page at /docs, rendered from docs/api.md. It is one response, needs no other host, and reads well without JavaScript. */
import { hash } from "node:crypto";
import markdown from "../../../docs/api.md" with { type: "text" };
import { version } from "../../../package.json";
import { publicPaths } from "../../contract/paths.ts";
import { adminCommand } from "../../runtime/program-name.ts";
import baseStyle from "./base.css" with { type: "text" };
import script from "./page.browser.js" with { type: "text" };
import pageStyle from "./page.css" with { type: "text" };

/** The icon of both pages in a browser's tab: a card with a person, as an address that needs no request. */
const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3.5" fill="#0a58a8"/>' +
    '<circle cx="8" cy="6" r="2.4" fill="#fff"/><path d="M3.4 13c.5-2.7 2.3-4 4.6-4s4.1 1.3 4.6 4z" fill="#fff"/></svg>',
)}`;

interface Page {
  readonly title: string;
  /** Further elements of the head. */
  readonly head?: string;
  readonly style: string;
  readonly script: string;
  /** The ID of the main part. */
  readonly main: string;
  readonly body: string;
}

const digestOf = (text: string) => `'sha256-${hash("sha256", text, "base64")}'`;

/** Returns the answer with a page. The browser runs this style and this script, loads what the head names, and nothing else. */
export function htmlPage({ title, head = "", style, script, main, body }: Page) {
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
${head}
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

/** Renders the page of the server at an origin, which its programs request. Each error is at `#` and its code. */
export function docsPage(origin: string) {
  const { html, headings } = render(origin);
  const items = headings.map(({ level, id, title }) => `<li class="level-${level}"><a href="#${id}">${title}</a></li>`);
  const body = `<nav aria-label="Contents">
<a href="${publicPaths.docs}"><strong>Leadfile API</strong></a><br>
<span>${version} · <a href="${publicPaths.explorer}">try it</a> · <a href="${publicPaths.openapi}">openapi.json</a></span>
<ul>
${items.join("\n")}
</ul>
</nav>
<main id="content" tabindex="-1">
${html}
</main>`;
  return htmlPage({ title: "Leadfile API", style: baseStyle + pageStyle, script, main: "content", body });
}

const block = String.raw`<pre><code class="language-(\w+)">([\s\S]*?)</code></pre>\s*`;

/** Renders the Markdown. Headings get an anchor, and programs that follow one another become tabs. */
function render(origin: string): { html: string; headings: Heading[] } {
  const headings: Heading[] = [];
  const html = Bun.markdown
    .html(markdown.replaceAll("bun admin", adminCommand))
    .replaceAll(new RegExp(`<h([23])>(.*?)</h\\1>|(?:${block})+`, "g"), (found, level, title) => {
      if (level === undefined) return renderCode(found, headings.at(-1)?.id ?? "", origin);
      const id = title
        .toLowerCase()
        .replaceAll(/[^\w -]/g, "")
        .replaceAll(" ", "-");
      headings.push({ level, id, title });
      return `<h${level} id="${id}">${title}</h${level}>`;
    });
  return { html, headings };
}

const languages: Readonly<Record<string, string>> = { sh: "curl", ts: "TypeScript", python: "Python" };

/** Renders blocks of code. Radio buttons choose the language that is shown, without JavaScript. */
function renderCode(blocks: string, topic: string, origin: string): string {
  const programs = [...blocks.matchAll(new RegExp(block, "g"))].map(([, language = "", code = ""]) => {
    const shown = code.trim().replaceAll("http://127.0.0.1:3000", () => inCode(origin, language));
    const label = language === "json" ? "" : ` role="region" aria-label="${languages[language]}, ${topic}"`;
    const html = `<div class="code" data-language="${language}"><pre tabindex="0"${label}><code>${shown}</code></pre></div>`;
    return { language, html };
  });
  const html = programs.map((program) => program.html).join("\n");
  if (programs[0]?.language === "json") return html;
  const choices = programs.map(({ language }, index) => {
    const id = `${topic}-${language}`;
    const input = `<input class="unseen" type="radio" name="${topic}" id="${id}" value="${language}"${index === 0 ? " checked" : ""}>`;
    return `${input}<label for="${id}">${languages[language]}</label>`;
  });
  return `<div class="tabs" role="radiogroup" aria-label="Language">${choices.join("")}\n${html}\n</div>\n`;
}

/** Writes an origin as the text between double quotes of a language, in HTML. The owner may have set an odd BASE_URL. */
function inCode(origin: string, language: string): string {
  return Bun.escapeHTML(origin.replaceAll(language === "sh" ? /[\\"$`]/g : /[\\"]/g, String.raw`\$&`));
}
