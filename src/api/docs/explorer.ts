/** The explorer at /docs/try: Swagger UI from its package, with a field for the key that only the open page knows. */
import { version } from "swagger-ui-dist/package.json";
import explorerStyle from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import explorerCode from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import { publicPaths } from "../../contract/paths.ts";
import baseStyle from "./base.css" with { type: "text" };
import start from "./explorer.browser.js" with { type: "text" };
import style from "./explorer.css" with { type: "text" };
import { htmlPage, pageHeaders } from "./page.ts";

const at = publicPaths.explorer;

interface Asset {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Blob;
}

const script = { "Content-Type": "text/javascript; charset=utf-8", "Cache-Control": "no-cache" };
const sheet = { "Content-Type": "text/css; charset=utf-8", "Cache-Control": "no-cache" };
/** The addresses of these 1.5 MB have their version, so that a browser loads each version once. */
const lasting = { "Cache-Control": "public, max-age=31536000, immutable" };

const body = `<header>
<a href="${publicPaths.docs}">Leadfile API</a>
<h1>Try it</h1>
<p>Requests go to this server alone, and count toward the limit. The key stays in the memory of this page until you close
it.</p>
<form><label class="key">API key <input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="lf_…"></label></form>
<h2 class="unseen">Operations</h2>
</header>
<div id="explorer" tabindex="-1">
<p>The operations appear here when they have loaded. They need JavaScript; <a href="${publicPaths.docs}">the documentation</a> does not.</p>
</div>
<script src="${at}/swagger-ui.js?${version}"></script>
<script type="module" src="${at}/explorer.js"></script>`;

const styles = `<link rel="stylesheet" href="${at}/swagger-ui.css?${version}">\n<link rel="stylesheet" href="${at}/explorer.css">`;
// Swagger UI draws its icons from data: addresses; it asks this server alone.
const headers = pageHeaders("script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'");

/** The files below /docs/, by path. */
export const explorerAssets: Readonly<Record<string, Asset>> = {
  [at]: { headers, body: htmlPage("Try the Leadfile API", styles, "explorer", body) },
  [`${at}/explorer.js`]: { headers: script, body: start },
  [`${at}/explorer.css`]: { headers: sheet, body: baseStyle + style },
  [`${at}/swagger-ui.js`]: { headers: { ...script, ...lasting }, body: Bun.file(explorerCode) },
  [`${at}/swagger-ui.css`]: { headers: { ...sheet, ...lasting }, body: Bun.file(explorerStyle) },
};
