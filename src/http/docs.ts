/** The page at /docs: made once from the contract, readable without JavaScript and without another host. */
import { errorCodes, errors } from "../contract/errors.ts";
import { Lead } from "../contract/lead.ts";
import { pageSize, paths } from "../contract/limits.ts";
import { leadParameters } from "../contract/parameters.ts";

/** The page for a server with this public origin and limit. Each error has its section at `#` and its code. */
export function docsPage(baseUrl: string, limitPerMin: number): string {
  const first = `curl -H "Authorization: Bearer $LEADFILE_KEY" \\\n  "${baseUrl}${paths.leads}?limit=${pageSize.usual}"`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Leadfile API</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Leadfile API</h1>
<p>The identified visitors of your websites as read-only JSON. The machine-readable description is at
<a href="/openapi.json">/openapi.json</a>.</p>

<h2 id="first-request">First request</h2>
<p>Every request carries an API key in the header <code>Authorization: Bearer &lt;API_KEY&gt;</code>.</p>
<pre><code>${Bun.escapeHTML(first)}</code></pre>

<h2 id="endpoints">Endpoints</h2>
<dl>
<dt><code>GET ${paths.leads}</code></dt><dd>The leads of the account across all pixels, newest first.</dd>
<dt><code>GET ${paths.pixels}</code></dt><dd>The pixels of the account.</dd>
<dt><code>GET ${paths.usage}</code></dt><dd>Requests of this key, today and this month (UTC).</dd>
</dl>

<h2 id="parameters">Parameters of ${paths.leads}</h2>
<dl>
${Object.entries(leadParameters)
  .map(([name, { schema, accepts }]) => term(name, `${schema.description ?? ""} Takes ${accepts}.`))
  .join("\n")}
</dl>

<h2 id="paging">Paging</h2>
<p>While <code>has_more</code> is true, ask for the next page with <code>before</code> set to <code>next_cursor</code>.
No lead is skipped and none comes twice, even while newer ones are imported.</p>

<h2 id="polling">Polling</h2>
<p>Keep the newest <code>identified_at</code> that you have seen and send it as <code>since</code> on the next poll.
It is inclusive, so the newest lead comes again: drop it by its <code>id</code>. Where a source delivers late, look back
by an overlap.</p>

<h2 id="fields">Fields of a lead</h2>
<dl>
${Object.entries(Lead.properties)
  .map(([name, schema]) => term(name, `${schema.description ?? ""}${"anyOf" in schema ? " May be null." : ""}`))
  .join("\n")}
</dl>

<h2 id="limits">Limits</h2>
<p>${limitPerMin} requests per key and UTC clock minute. Every answer says how many are left in
<code>X-RateLimit-Remaining</code>, and when the window ends in <code>X-RateLimit-Reset</code> (Unix seconds).
The window lives in the server's memory: a restart begins a new one.</p>

<h2 id="errors">Errors</h2>
<p>Every error is <code>{"error":{"code","message","docs"}}</code>; <code>docs</code> leads to the section here.</p>
${errorCodes
  .map(
    (code) => `<section id="${code}"><h3><code>${code}</code> <small>${errors[code].status}</small></h3>
<p>${Bun.escapeHTML(errors[code].condition)}</p><p>${Bun.escapeHTML(errors[code].cure)}</p></section>`,
  )
  .join("\n")}
</main>
</body>
</html>
`;
}

function term(name: string, text: string): string {
  return `<dt><code>${name}</code></dt><dd>${Bun.escapeHTML(text)}</dd>`;
}

const style = `
:root { color-scheme: light dark; font: 1rem/1.55 system-ui, sans-serif; }
body { margin: 0; padding: 1.5rem; }
main { max-width: 44rem; margin: 0 auto; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
section:target { outline: 2px solid; outline-offset: .75rem; }
small { font-weight: normal; opacity: .75; }
pre { overflow-x: auto; padding: 1rem; background: color-mix(in srgb, currentColor 8%, transparent); }
dt { margin-top: .75rem; font-weight: 600; }
dd { margin-left: 1.25rem; }
`;
