/** The page at /docs as a text: what it says, and that what it tells to do can be done. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { errorCodes } from "../../src/contract/errors.ts";
import { Lead } from "../../src/contract/lead.ts";
import { LeadParameters } from "../../src/contract/parameters.ts";
import { aFolder } from "../support/folder.ts";
import { serve } from "../support/harness.ts";
import { type Language, programOf } from "./programs.ts";

/** The programs on a page, as somebody who copies them gets them. */
async function programsOf(page: string) {
  const found: { label: string; code: string }[] = [];
  await new HTMLRewriter()
    .on(".code pre", {
      element: (element) => void found.push({ label: element.getAttribute("aria-label") ?? "", code: "" }),
      text(chunk) {
        const last = found.at(-1);
        if (last !== undefined) last.code += unescaped(chunk.text);
      },
    })
    .transform(new Response(page))
    .text();
  return found.map(({ label, code }) => {
    const [language, topic = ""] = label.split(", ");
    return { language, topic, code };
  });
}

const unescaped = (html: string) =>
  html
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#x27;", "'")
    .replaceAll("&amp;", "&");

const pageOf = async (url: string) => (await fetch(`${url}/docs`)).text();

const headings = { "first-request": "First request", paging: "Paging", polling: "Polling", limits: "Limits" };
const languages = { curl: "sh", TypeScript: "ts", Python: "python" } as const;
const languagesOf = (heading: string) => ({ ...languages, ...(heading === "Polling" && { Go: "go", PHP: "php" }) });

test("the page has the programs of docs/api.md for four tasks in each language, in colors", async () => {
  const { url } = await serve();
  const written = Object.entries(headings).flatMap(([topic, heading]) =>
    Object.entries(languagesOf(heading)).map(([language, name]) => ({
      topic,
      language,
      code: programOf(heading, name as Language, url).trimEnd(),
    })),
  );
  const page = await pageOf(url);
  const shown = (await programsOf(page)).filter(({ topic }) => topic in headings);
  expect<unknown[]>(shown).toEqual(written);
  expect(page.match(/class="hljs-string"/g)?.length).toBeGreaterThan(50);
});

test("no code sample is marked up as struck out", async () => {
  expect(await pageOf((await serve()).url)).not.toMatch(/<(?:s|del|ins|u)[ >]/);
});

describe("the address in the programs", () => {
  const originsIn = async (page: string) =>
    new Set(
      (await programsOf(page))
        .filter(({ topic }) => topic in headings)
        .flatMap(({ code }) => code.match(/https?:\/\/[^/"\s]+/g) ?? []),
    );

  test("is BASE_URL if that is a public address", async () => {
    const { url } = await serve({ baseUrl: "https://leads.example.com" });
    expect(await originsIn(await pageOf(url))).toEqual(new Set(["https://leads.example.com"]));
  });

  test.each(["evil.example", "leads.lan:3000", "user@evil.example", "$(id)", 'x"><script>alert(1)</script>', ""])(
    "is otherwise the one that the server listens on, whatever the Host: %j",
    async (host) => {
      const { url, send } = await serve();
      const { status, body } = await send({ target: "/docs", host });
      if (status === 400) return; // Not a Host at all to the HTTP parser.
      expect(await originsIn(body)).toEqual(new Set([url]));
      if (host !== "") expect(body).not.toContain(host);
    },
  );

  test("never comes from X-Forwarded-Host, even of a trusted proxy", async () => {
    const { url, send } = await serve({ trustProxy: true });
    const headers = { "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https" };
    expect(await originsIn((await send({ target: "/docs", headers })).body)).toEqual(new Set([url]));
  });

  test("escapes unusual characters of BASE_URL", async () => {
    const baseUrl = `http://a"$(touch\${IFS}x)\`b\`&.example.com`;
    const { url, aKey } = await serve({ baseUrl });
    const page = await pageOf(url);
    const [line] = (await programsOf(page)).filter(({ language }) => language === "curl");
    const folder = aFolder();
    const shown = Bun.spawnSync(["sh", "-c", (line?.code ?? "").replace(/^curl/, "printf '%s|'")], {
      cwd: folder,
      env: { LEADFILE_KEY: aKey() },
    });
    expect(shown.stdout.toString()).toContain(`${baseUrl}/api/v1/leads?limit=5|`);
  });
});

test("the documentation is there as text, with absolute links to the public address, under 60 KB", async () => {
  const { send } = await serve({ baseUrl: "https://www.example.com" });
  for (const [target, type] of [
    ["/docs.md", "text/markdown"],
    ["/llms.txt", "text/plain"],
  ] as const) {
    const { status, headers, body } = await send({ target, host: "www.example.com" });
    expect([status, headers.get("content-type")]).toEqual([200, `${type}; charset=utf-8`]);
    expect(Buffer.byteLength(body)).toBeWithin(20_000, 60_000);
    for (const code of errorCodes) expect(body).toContain(`### ${code}`);
    expect(body).toContain("npm install https://www.example.com/docs/client.tgz");
    expect(body).not.toContain("127.0.0.1:3000");
    expect(body.match(/\]\((?!https:\/\/)[^)]*\)/g)).toBeNull();
    expect((await send({ target, host: "www.example.com", method: "HEAD" })).status).toBe(200);
    expect((await send({ target, host: "www.example.com", method: "POST" })).status).toBe(405);
  }
  expect((await send({ target: "/llms.txt", host: "www.example.com" })).body).toMatch(/^# .+\n\n> .+\n/);
});

test("the reference shows type, default or null, and example of each parameter and field, labeled in each cell", async () => {
  const page = await pageOf((await serve()).url);
  const rowOf = (id: string) => new RegExp(`<tr id="${id}".*?>([\\s\\S]*?)</tr>`).exec(page)?.[1] ?? "";
  const cellsOf = (id: string) =>
    [...rowOf(id).matchAll(/data-label="(\w+)"><div>(.*?)<\/div>/g)].map(([, label, cell = ""]) => [
      label,
      cell.replaceAll(/<[^>]+>/g, ""),
    ]);
  expect(cellsOf("parameters-limit").slice(0, 4)).toEqual([
    ["parameter", "limit"],
    ["type", "integer"],
    ["default", "25"],
    ["example", "100"],
  ]);
  for (const name of Object.keys(LeadParameters.properties)) expect(cellsOf(`parameters-${name}`)).toHaveLength(5);
  for (const name of Object.keys(Lead.properties)) {
    const [, [, type] = [], [, nullable] = [], [, example] = []] = cellsOf(`fields-of-a-lead-${name}`);
    expect([name, type, nullable]).toEqual([
      name,
      expect.stringMatching(/^string/),
      expect.stringMatching(/^(yes|no)$/),
    ]);
    expect(example).not.toBe("");
  }
});

test("every link to this server works, and the connectors are the files of the project", async () => {
  const { url, send } = await serve();
  const links = [...(await pageOf(url)).matchAll(/href="([^"#]+)/g)].map(([, link = ""]) => link.replace(url, ""));
  const own = new Set(links.filter((link) => link.startsWith("/")));
  expect(own.size).toBeGreaterThan(8);
  for (const target of own) {
    const { status, body } = await send({ target });
    expect([target, status]).toEqual([target, 200]);
    const [, file] = /^\/docs\/(connectors\/.+)/.exec(target) ?? [];
    if (file === undefined) continue;
    const kept = readFileSync(join(import.meta.dir, "../..", file), "utf8");
    if (file.endsWith(".json")) expect(JSON.parse(body)).toEqual(JSON.parse(kept));
    else expect(body).toBe(kept);
  }
});

test("every internal link has a target, and every anchor is unique", async () => {
  const page = await pageOf((await serve()).url);
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id ?? "");
  expect(new Set(ids).size).toBe(ids.length);
  const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id ?? "");
  expect(targets.length).toBeGreaterThan(20);
  expect(targets.filter((target) => !ids.includes(target))).toEqual([]);
});

test.each([
  ["/docs", /^default-src 'none'; (?!.*'(?:self|unsafe))/],
  ["/docs/try", /script-src 'self' .*connect-src 'self'/],
])("%s is small, runs only its own scripts, refuses frames, and is revalidated", async (target, scripts) => {
  const { headers, body } = await (await serve()).send({ target });
  expect(body.length).toBeLessThan(300_000);
  const policy = headers.get("content-security-policy") ?? "";
  expect(policy).toMatch(scripts);
  for (const part of ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"])
    expect(policy.split("; ")).toContain(part);
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  expect(headers.get("cache-control")).toBe("no-cache");
});

test("a browser caches the large files of the explorer by version", async () => {
  const { send } = await serve();
  const { body } = await send({ target: "/docs/try" });
  const large = [...body.matchAll(/"(\/docs\/try\/swagger-ui[^"]+)"/g)].map(([, target = ""]) => target);
  expect(large).toHaveLength(2);
  for (const target of large) {
    expect(target).toMatch(/\?\d+\.\d+\.\d+$/);
    const { status, headers } = await send({ target });
    expect([status, headers.get("cache-control")]).toEqual([200, "public, max-age=31536000, immutable"]);
  }
});
