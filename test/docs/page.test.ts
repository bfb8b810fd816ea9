/** The page at /docs as a text: what it says, and that what it tells to do can be done. */
import { describe, expect, onTestFinished, test } from "bun:test";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aLead, someLeads } from "../support/builders.ts";
import { aFolder } from "../support/folder.ts";
import { serve } from "../support/harness.ts";
import { programOf } from "./programs.ts";

interface Program {
  readonly topic: string;
  readonly language: "curl" | "TypeScript" | "Python";
  readonly code: string;
}

/** The programs on a page, as somebody who copies them gets them. */
async function programsOf(page: string): Promise<Program[]> {
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
    return { language: language as Program["language"], topic: topic ?? "", code }; // The test counts them.
  });
}

const unescaped = (html: string) =>
  html
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#x27;", "'")
    .replaceAll("&amp;", "&");

const pageOf = async (url: string, headers: Record<string, string> = {}) =>
  (await fetch(`${url}/docs`, { headers })).text();

const python = Bun.which("python3");

/** The output of a program until it ends or has printed enough. */
async function outcomeOf({ language, code }: Program, key: string, enough: RegExp): Promise<string> {
  const file = join(aFolder(), { curl: "lines.sh", TypeScript: "program.ts", Python: "program.py" }[language]);
  writeFileSync(file, code);
  const command = { curl: ["sh", "-e", file], TypeScript: [process.execPath, file], Python: [python ?? "", file] };
  const child = Bun.spawn(command[language], {
    env: { PATH: process.env["PATH"] ?? "", LEADFILE_KEY: key },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const errors = child.stderr.text();
  const decoder = new TextDecoder();
  let said = "";
  for await (const bytes of child.stdout) {
    said += decoder.decode(bytes, { stream: true });
    if (enough.test(said)) break;
  }
  child.kill("SIGKILL");
  await child.exited;
  return enough.test(said) ? "as expected" : `${said}${await errors}`;
}

const headings = { "first-request": "First request", paging: "Paging", polling: "Polling", limits: "Limits" };
const languages = { curl: "sh", TypeScript: "ts", Python: "python" } as const;

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

// every-lead.test.ts runs those in TypeScript and Python that read many pages.
test.each([
  ["First request", "curl", /dana@example\.com/],
  ["First request", "TypeScript", /dana@example\.com/],
  ["First request", "Python", /dana@example\.com/],
  ["Paging", "curl", /"has_more":false/],
  ["Polling", "curl", /\.\d{3}Z[\s\S]*dana@example\.com/],
  ["Limits", "curl", /requests_today/],
  ["Limits", "TypeScript", /requests_today/],
  ["Limits", "Python", /requests_today/],
] as const)("the program for %s in %s runs as printed", async (heading, language, expected) => {
  if (language === "Python" && python === null) return void process.stderr.write("Skipped: no python3 here.\n");
  const lastMinute = new Date(Date.now() - 60_000).toISOString();
  const { url, aKey } = await serve({
    leads: [...someLeads(119), aLead({ identified_at: lastMinute })],
    nowMs: Date.now(),
  });
  const program = { topic: heading, language, code: programOf(heading, languages[language], url) };
  expect(await outcomeOf(program, aKey(), expected)).toBe("as expected");
});

test.each(["TypeScript", "Python"] as const)("a program in %s prints the error of the server", async (language) => {
  if (language === "Python" && python === null) return void process.stderr.write("Skipped: no python3 here.\n");
  const programs = await programsOf(await pageOf((await serve()).url));
  for (const program of programs.filter((one) => one.language === language)) {
    const said = await outcomeOf(program, "lf_0", /said/);
    expect([program.topic, said]).toEqual([program.topic, expect.stringContaining("This API key does not exist.")]);
  }
});

test("the page may run its own script alone, and the explorer also loads files of its server", async () => {
  const { url } = await serve();
  const policyOf = async (path: string) => (await fetch(url + path)).headers.get("content-security-policy") ?? "";
  expect(await policyOf("/docs")).not.toContain("'self'");
  expect(await policyOf("/docs/try")).toMatch(/script-src 'self' .*connect-src 'self'/);
});

test("no code sample is marked up as struck out", async () => {
  expect(await pageOf((await serve()).url)).not.toMatch(/<(?:s|del|ins|u)[ >]/);
});

test("the TypeScript programs compile in strict mode", async () => {
  const folder = aFolder();
  symlinkSync(join(import.meta.dir, "../../node_modules"), join(folder, "node_modules"));
  const programs = (await programsOf(await pageOf((await serve()).url))).filter(
    ({ language }) => language === "TypeScript",
  );
  for (const { topic, code } of programs) writeFileSync(join(folder, `${topic}.ts`), code);
  const module = { module: "preserve", moduleDetection: "force", types: ["bun"] };
  const compilerOptions = { strict: true, noEmit: true, target: "esnext", skipLibCheck: true, ...module };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  const compiler = join(folder, "node_modules/typescript/bin/tsc");
  const { stdout } = Bun.spawnSync([process.execPath, compiler, "-p", folder]);
  expect([programs.length, stdout.toString()]).toEqual([4, ""]);
});

test("the curl that tries again writes the answer alone, so that jq can read it", async () => {
  const answers = [new Response('{"error":{}}', { status: 429, headers: { "Retry-After": "1" } })];
  const server = Bun.serve({ port: 0, fetch: () => answers.shift() ?? new Response('{"object":"usage"}') });
  onTestFinished(() => void server.stop(true));
  const line = programOf("Limits", "sh", `http://127.0.0.1:${server.port}`);
  expect(await Bun.$`sh -c ${line}`.quiet().text()).toBe('{"object":"usage"}');
});

test("no program sends the key to another host on a redirect", async () => {
  const keys: (string | null)[] = [];
  const other = Bun.serve({
    port: 0,
    fetch({ headers }) {
      keys.push(headers.get("authorization"));
      return Response.json({}, { status: 401 });
    },
  });
  const elsewhere = `http://localhost:${other.port}/`;
  const server = Bun.serve({ port: 0, fetch: () => Response.redirect(elsewhere, 308) });
  onTestFinished(() => void server.stop(true));
  onTestFinished(() => void other.stop(true));
  const origin = `http://127.0.0.1:${server.port}`;
  for (const topic of Object.values(headings)) {
    for (const language of ["TypeScript", "Python"] as const) {
      const program = { topic, language, code: programOf(topic, languages[language], origin) };
      if (language !== "Python" || python !== null) await outcomeOf(program, "lf_0", /$^/);
    }
  }
  expect(keys.filter((key) => key !== null)).toEqual([]);
  expect(keys.length).toBeGreaterThan(0);
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

test("the page is one response of less than 300 KB with a strict content security policy", async () => {
  const { url } = await serve();
  const answer = await fetch(`${url}/docs`);
  expect((await answer.text()).length).toBeLessThan(300_000);
  const policy = answer.headers.get("content-security-policy") ?? "";
  expect(policy).toStartWith("default-src 'none'; ");
  expect(policy).not.toContain("unsafe");
});

test.each(["/docs", "/docs/try"])(
  "%s refuses frames, sends nothing to other sites, and is revalidated",
  async (target) => {
    const { headers } = await (await serve()).send({ target });
    const policy = headers.get("content-security-policy")?.split("; ") ?? [];
    for (const part of ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"])
      expect(policy).toContain(part);
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cache-control")).toBe("no-cache");
  },
);

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
