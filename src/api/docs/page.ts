/** The page at /docs. It is one answer, needs no other host, and reads well without JavaScript. */
import { hash } from "node:crypto";
import { version } from "../../../package.json";
import { publicPaths } from "../../contract/paths.ts";
import { iconAddress } from "./markup.ts";
import script from "./page.browser.js" with { type: "text" };
import style from "./page.css" with { type: "text" };
import { type Section, sections } from "./sections.ts";

/** The headers of the page. The browser may load nothing else for it. */
export const docsHeaders = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy":
    `default-src 'none'; style-src '${digestOf(style)}'; script-src '${digestOf(script)}'; img-src data:; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-cache",
};

/** The page of the server at an origin, which its programs ask. The entry of each error is at `#` and its code. */
export function docsPage(origin: string, limitPerMin: number, adminCommand: string): string {
  const all = sections(origin, limitPerMin, adminCommand);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Leadfile API</title>
<link rel="icon" href="${iconAddress}">
<style>${style}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<nav aria-label="Contents">
<a class="name" href="${publicPaths.docs}">Leadfile API</a>
<span class="version">${version} · <a href="${publicPaths.explorer}">try it</a> · <a href="${publicPaths.openapi}">openapi.json</a></span>
<ul>
${all.map(entry).join("\n")}
</ul>
</nav>
<main id="content" tabindex="-1">
<h1>Leadfile API</h1>
<p class="lead">Your identified website visitors as read-only JSON: three GET endpoints, one API key, cursor paging.</p>
${all.map(({ id, title, body }) => `<section id="${id}">\n<h2>${title}</h2>\n${body}\n</section>`).join("\n")}
</main>
<script>${script}</script>
</body>
</html>
`;
}

function entry({ id, title, parts = [] }: Section): string {
  const below = parts.map((part) => `<li><a href="#${part}">${part}</a></li>`).join("");
  return `<li><a href="#${id}">${title}</a>${below === "" ? "" : `<ul>${below}</ul>`}</li>`;
}

function digestOf(text: string): string {
  return `sha256-${hash("sha256", text, "base64")}`;
}
