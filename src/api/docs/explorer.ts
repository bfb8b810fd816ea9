/** The explorer at /docs/try: Swagger UI from its package, with a field for the key that only the open page knows. */
import { version } from "swagger-ui-dist/package.json";
import explorerStyle from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import explorerCode from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import { publicPaths } from "../../contract/paths.ts";
import baseStyle from "./base.css" with { type: "text" };
import script from "./explorer.browser.js" with { type: "text" };
import style from "./explorer.css" with { type: "text" };
import { htmlPage } from "./page.ts";

const at = publicPaths.explorer;
const files = { style: `${at}/swagger-ui.css`, code: `${at}/swagger-ui.js` };

const page = htmlPage({
  title: "Try the Leadfile API",
  head: `<link rel="stylesheet" href="${files.style}?${version}">`,
  style: baseStyle + style,
  script,
  main: "explorer",
  body: `<header>
<a href="${publicPaths.docs}">Leadfile API</a>
<h1>Try it</h1>
<p>Requests go to this server alone, and count toward the limit. The key stays in the memory of this page until you close
it.</p>
<h2 class="unseen">Operations</h2>
</header>
<form aria-label="Authorization"><label class="key">API key <input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="lf_…"></label></form>
<div id="explorer" tabindex="-1">
<p>The operations appear here when they have loaded. They need JavaScript; <a href="${publicPaths.docs}">the documentation</a> does not.</p>
</div>
<script src="${files.code}?${version}"></script>`,
});

/** The addresses of these 1.5 MB have their version, so that a browser loads each version once. */
const lasting = { "Cache-Control": "public, max-age=31536000, immutable" };

/** The answers at /docs/try and below, by path. */
export const explorerAssets = {
  [at]: page,
  [files.style]: { headers: { "Content-Type": "text/css; charset=utf-8", ...lasting }, body: Bun.file(explorerStyle) },
  [files.code]: {
    headers: { "Content-Type": "text/javascript; charset=utf-8", ...lasting },
    body: Bun.file(explorerCode),
  },
};
