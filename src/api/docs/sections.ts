/** The sections of the page at /docs, made from the contract. */
import changes from "../../../CHANGELOG.md" with { type: "text" };
import { settings } from "../../config.ts";
import { type ErrorCode, errorCodes, errors } from "../../contract/errors.ts";
import { Lead } from "../../contract/lead.ts";
import { pageSize } from "../../contract/limits.ts";
import { leadParameters } from "../../contract/parameters.ts";
import { paths, publicPaths } from "../../contract/paths.ts";
import { answer, definitions, programs, prose } from "./markup.ts";
import { answers } from "./openapi-examples.ts";
import { firstRequest, paging, polling, retrying } from "./programs.ts";

export interface Section {
  readonly id: string;
  readonly title: string;
  /** HTML. */
  readonly body: string;
  /** Anchors inside it. The table of contents names them too. */
  readonly parts?: readonly string[];
}

/** In the order in which a developer needs them. */
export function sections(origin: string, limitPerMin: number, adminCommand: string): Section[] {
  return [
    { id: "first-request", title: "First request", body: first(origin, adminCommand) },
    { id: "endpoints", title: "Endpoints", body: endpoints() },
    { id: "paging", title: "Paging", body: pagingBody(origin) },
    { id: "polling", title: "Polling", body: pollingBody(origin) },
    { id: "limits", title: "Limits", body: limits(origin, limitPerMin) },
    { id: "parameters", title: "Parameters", body: parameters() },
    { id: "fields", title: "Fields of a lead", body: fields() },
    { id: "errors", title: "Errors", body: errorList(), parts: errorCodes },
    { id: "settings", title: "Settings", body: settingList() },
    { id: "changes", title: "Changes", body: changesBody() },
  ];
}

function first(origin: string, adminCommand: string): string {
  return `${prose(`
Every request carries an API key in the header \`Authorization: Bearer <API_KEY>\`. The owner of this server makes one
with \`${adminCommand} key create ACCOUNT\`; it is shown once. Put it into the environment as \`LEADFILE_KEY\`, and ask for the
newest leads:
`)}
${programs("first-request", firstRequest(origin))}
${prose("The answer is a page of leads:")}
${answer(paths.leads, answers.leads)}
${prose(`
A key reads all leads of its account. Keep it out of web pages, repositories and URLs: it is read from the header alone,
and there are no CORS headers, on purpose.
`)}`;
}

function endpoints(): string {
  const rows: [string, string][] = [
    [`GET ${paths.leads}`, "The leads of the account across all pixels, newest first."],
    [`GET ${paths.pixels}`, "The pixels of the account, in the order in which they were created."],
    [`GET ${paths.usage}`, "Requests made with this key, today and this month (UTC), this one included."],
  ];
  return `${definitions(rows.map(([term, text]) => ({ term, text })))}
${prose("The other two answer in this form:")}
${answer(paths.pixels, answers.pixels)}
${answer(paths.usage, answers.usage)}
${prose(`
The description for programs is at [${publicPaths.openapi}](${publicPaths.openapi}) (OpenAPI 3.1), and [the explorer](${publicPaths.explorer}) sends
requests from the browser. Paths are compared letter by letter: a trailing slash is another path.
`)}`;
}

function pagingBody(origin: string): string {
  return `${prose(`
A page has ${pageSize.usual} leads, or as many as \`limit\` asks for, up to ${pageSize.most}. While \`has_more\` is true,
ask again with \`before\` set to \`next_cursor\`. Every lead of an account has a millisecond of its own, so no lead is
skipped and none comes twice, even while others are imported.
`)}
${programs("paging", paging(origin))}`;
}

function pollingBody(origin: string): string {
  return `${prose(`
Keep the newest \`identified_at\` that you have seen and send it as \`since\`. It is inclusive, so the newest lead comes
again: drop it by its \`id\`. Keep it only after the last page: the newest lead comes first, and what a crash left unread
would be passed. A poll every half minute is enough for most programs.
`)}
${programs("polling", polling(origin))}
${prose(`
Some sources deliver late: a lead then appears with a time that a poll has passed. Look back by an overlap (a \`since\`
some hours older) and remember the ids of that time, or ask the owner to import with \`--stamp arrival\`.

A poll does not show that a lead was changed by an import, or erased. Where you keep copies, read all pages now and then,
and compare them by \`id\`.
`)}`;
}

function limits(origin: string, limitPerMin: number): string {
  return `${prose(`
${limitPerMin} requests per key and UTC clock minute. Every request with a live key counts once, whatever the answer; a
429 does not count. The window lives in the server's memory: a restart begins a new one.

- \`X-RateLimit-Limit\` is the number of requests per minute,
- \`X-RateLimit-Remaining\` how many are left, the answered one counted,
- \`X-RateLimit-Reset\` the Unix second at which the window ends,
- \`Retry-After\`, with a 429, how many seconds to wait.

All but the last are on every answer. After a 429 or a 500, wait and send the same request again. After any other error,
change the request first.
`)}
${programs("retrying", retrying(origin))}`;
}

function parameters(): string {
  const list = Object.entries(leadParameters).map(([name, { schema, accepts }]) => ({
    term: name,
    text: `${schema.description ?? ""} Takes ${accepts}.`,
    type: `${schema["format"] ?? schema["type"]}${"default" in schema ? `, default ${schema.default}` : ""}`,
  }));
  return `${prose(`
All are optional, and all are of \`GET ${paths.leads}\`; the other endpoints take none. Each may come once. An unknown,
repeated, empty or malformed one is a 400 that names it: nothing is clamped or ignored.
`)}
${definitions(list)}`;
}

function fields(): string {
  const list = Object.entries(Lead.properties).map(([name, schema]) => ({
    term: name,
    text: schema.description ?? "",
    type: `${"format" in schema ? schema.format : "string"}${"anyOf" in schema ? " or null" : ""}`,
  }));
  return `${prose("Every field is always there; one that is not known for a visitor is `null`.")}
${definitions(list)}`;
}

function errorList(): string {
  return `${prose(`
Every error is \`{"error": {"code", "message", "docs"}}\`; \`docs\` leads to its entry here. A program decides by the code;
the message is for people. Keep the header \`X-Request-Id\`: the log of the server names the request by it.
`)}
${errorCodes.map(errorEntry).join("\n")}`;
}

function errorEntry(code: ErrorCode): string {
  const { status, condition, cure } = errors[code];
  return `<article class="error" id="${code}">
<h3><code>${code}</code> <span class="status">${status}</span></h3>
<p><strong>Cause.</strong> ${Bun.escapeHTML(condition)}</p>
<p><strong>Cure.</strong> ${Bun.escapeHTML(cure)}</p>
</article>`;
}

function settingList(): string {
  const list = Object.entries(settings).map(([name, { fallback, meaning }]) => ({
    term: name,
    text: meaning,
    type: fallback === "unset" ? "unset" : `default ${fallback}`,
  }));
  return `${prose("For whoever runs this server: environment variables, read once at the start.")}
${definitions(list)}`;
}

/** The changelog, its headings one level lower than in its own file. */
function changesBody(): string {
  const withoutTitle = changes.replace(/^# .*\n/, "");
  return prose(withoutTitle).replaceAll(/<(\/?)h2/g, "<$1h3");
}
