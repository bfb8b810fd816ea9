/** The page at /docs as a text: what it says, and that what it tells to do can be done. */
import { describe, expect, test } from "bun:test";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answering } from "../support/answering.ts";
import { aFolder } from "../support/folder.ts";
import { serve } from "../support/harness.ts";
import { needing } from "../support/needing.ts";
import { aBusyServer, aLineForEachLead, type Language, programOf, run } from "./programs.ts";

/** The programs on a page, as somebody who copies them gets them. */
async function programsOf(page: string) {
  const found: { label: string; code: string }[] = [];
  await new HTMLRewriter()
    .on(".tabs pre", {
      element: (element) => void found.push({ label: element.getAttribute("aria-label") ?? "", code: "" }),
    })
    .on(".tabs pre *", {
      text(chunk) {
        const last = found.at(-1);
        if (last !== undefined) last.code += unescaped(chunk.text);
      },
    })
    .transform(new Response(page))
    .text();
  return found.map(({ label, code }) => {
    const [language, topic] = label.split(", ");
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

/** Makes tests of programs in a language, which are skipped where nothing can run them. */
const testIn = (language: Language) => needing(...(language === "python" ? ["python3"] : []));

test("the page has the programs of docs/api.md for four tasks in three languages", async () => {
  const { url } = await serve();
  const written = Object.entries(headings).flatMap(([topic, heading]) =>
    Object.entries(languages).map(([language, name]) => ({
      topic,
      language,
      code: programOf(heading, name, url).trimEnd(),
    })),
  );
  expect<unknown[]>(await programsOf(await pageOf(url))).toEqual(written);
});

for (const [heading, language, expected] of [
  ["First request", "sh", /dana@example\.com/],
  ["First request", "ts", /dana@example\.com/],
  ["First request", "python", /dana@example\.com/],
  ["Paging", "sh", /"has_more":false/],
  ["Paging", "ts", /^2000 leads$/m],
  ["Paging", "python", /^2000 leads$/m],
  ["Polling", "sh", /\.\d{3}Z[\s\S]*dana@example\.com/],
  ["Polling", "ts", aLineForEachLead],
  ["Polling", "python", aLineForEachLead],
  ["Limits", "sh", /requests_today/],
  ["Limits", "ts", /requests_today/],
  ["Limits", "python", /requests_today/],
] as const) {
  testIn(language)(
    `the program for ${heading} in ${language} runs as printed, and loses none of 2,000 leads`,
    async () => {
      const { url, aKey } = await aBusyServer();
      const running = run(language, programOf(heading, language, url), { LEADFILE_KEY: aKey() });
      await running.said(expected);
      if (expected === aLineForEachLead) expect(new Set(running.output().match(/^\S+/gm)).size).toBe(2_000);
    },
  );
}

for (const heading of Object.values(headings)) {
  for (const language of ["ts", "python"] as const) {
    testIn(language)(
      `the program for ${heading} in ${language} prints the error of the server, and sends the key to no other host`,
      async () => {
        const keys: (string | null)[] = [];
        const other = answering(({ headers }) => {
          keys.push(headers.get("authorization"));
          return Response.json({}, { status: 401 });
        });
        const elsewhere = answering(() => Response.redirect(other.replace("127.0.0.1", "localhost"), 308));
        const runOn = (url: string) => run(language, programOf(heading, language, url), { LEADFILE_KEY: "lf_0" });
        const [refused, redirected] = [runOn((await serve()).url), runOn(elsewhere)];
        await Promise.all([refused.exited, redirected.exited]);
        expect(refused.errors()).toContain("This API key does not exist.");
        expect(keys).toEqual(language === "ts" ? [null] : []);
      },
    );
  }
}

test("no code sample is marked up as struck out", async () => {
  expect(await pageOf((await serve()).url)).not.toMatch(/<(?:s|del|ins|u)[ >]/);
});

test("the TypeScript programs compile in strict mode", () => {
  const folder = aFolder();
  symlinkSync(join(import.meta.dir, "../../node_modules"), join(folder, "node_modules"));
  for (const heading of Object.values(headings)) {
    writeFileSync(join(folder, `${heading}.ts`), programOf(heading, "ts", "http://127.0.0.1:3000"));
  }
  const module = { module: "preserve", moduleDetection: "force", types: ["bun"] };
  const compilerOptions = { strict: true, noEmit: true, target: "esnext", skipLibCheck: true, ...module };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  const compiler = join(folder, "node_modules/typescript/bin/tsc");
  expect(Bun.spawnSync([process.execPath, compiler, "-p", folder]).stdout.toString()).toBe("");
});

test("the curl that tries again writes the answer alone, so that jq can read it", async () => {
  const answers = [new Response('{"error":{}}', { status: 429, headers: { "Retry-After": "1" } })];
  const line = programOf(
    "Limits",
    "sh",
    answering(() => answers.shift() ?? new Response('{"object":"usage"}')),
  );
  expect(await Bun.$`sh -c ${line}`.quiet().text()).toBe('{"object":"usage"}');
});

describe("the address in the programs", () => {
  const originsIn = async (page: string) =>
    new Set((await programsOf(page)).flatMap(({ code }) => code.match(/https?:\/\/[^/"\s]+/g) ?? []));

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
