/** The documents list exactly the settings, commands, options, and columns of the program. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandUnknownOpts as Command } from "@commander-js/extra-typings";
import type { TSchema } from "@sinclair/typebox";
import { vendorsPage } from "../../docs/vendors.ts";
import { engines, scripts } from "../../package.json";
import { leadExamples, pixelExamples, usageExamples } from "../../src/api/docs/examples.ts";
import { responseHeaders } from "../../src/api/docs/openapi.ts";
import { settings } from "../../src/config.ts";
import { errorBody, errorCodes, errors, plainError } from "../../src/contract/errors.ts";
import { Lead, LeadList } from "../../src/contract/lead.ts";
import { LeadParameters } from "../../src/contract/parameters.ts";
import { Pixel } from "../../src/contract/pixel.ts";
import { Usage } from "../../src/contract/usage.ts";
import { theProgram } from "../support/program.ts";

const root = join(import.meta.dir, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const readme = read("README.md");
const importing = read("docs/importing.md");
const pages = [...new Bun.Glob("docs/**/*.md").scanSync(root)].toSorted();

test("the page on operations lists every setting with its default and meaning, and no other", () => {
  const rows = [...read("docs/operations.md").matchAll(/^\| `([A-Z_]+)` \| `?([^`|]+?)`? \| (.+) \|$/gm)].map(
    ([, ...cells]) => cells,
  );
  const known = Object.entries(settings).map(([name, { fallback, meaning }]) => [name, fallback, meaning]);
  expect(rows).toEqual(known);
});

test("the README has 400 to 600 words, and the pages for users fewer than 15,000 together, apart from code", () => {
  const wordsIn = (text: string) => text.trim().split(/\s+/).length;
  expect(wordsIn(readme)).toBeWithin(400, 601);
  const forUsers = pages.filter((path) => !path.startsWith("docs/decisions/"));
  const prose = forUsers.map((path) => read(path).replaceAll(/^```[\s\S]*?^```$/gm, ""));
  expect(prose.map(wordsIn).reduce((sum, count) => sum + count, 0)).toBeLessThan(15_000);
});

test("every script that the README names exists", () => {
  const named = [...readme.matchAll(/bun run (\w+)/g)].map(([, name]) => name ?? "");
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

test("every link leads to a file that exists, and to one of its headings", () => {
  expect(pages.length).toBeGreaterThan(10);
  for (const path of ["README.md", ...pages]) {
    for (const [, target = "", anchor = ""] of read(path).matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g)) {
      const headings = read(target === "" ? path : join(path, "..", target)).matchAll(/^#+ (.+)$/gm);
      const slugs = [...headings].map(([, text = ""]) => text.toLowerCase().replaceAll(/[^\w\- ]/g, ""));
      expect(["", ...slugs.map((slug) => slug.replaceAll(" ", "-"))]).toContain(anchor);
    }
  }
});

test("every place that names a version of Bun names the one of package.json, and the demo installs its packages", () => {
  const required = engines.bun.replace(">=", "");
  const places = ["README.md", "CONTRIBUTING.md", "docs/getting-started.md", ".ci/run", "packages/client/prepack.sh"];
  const named = places.flatMap((path) => [...read(path).matchAll(/bun(?:\]\(https:\/\/bun\.sh\) |@)(\d[\d.]*\d)/gi)]);
  expect(named.map(([, version]) => version)).toEqual(named.map(() => required));
  expect(named.length).toBeGreaterThan(4);
  expect(scripts.demo).toStartWith("bun install --frozen-lockfile");
});

test("the page on importing lists every option of lead import, and no other", () => {
  const listed = [...importing.matchAll(/^\| `(--[\w-]+)/gm)].map(([, option]) => option);
  const options = commandAt("lead", "import").options.map(({ long }) => long);
  expect(listed).toEqual(options.filter((option) => option !== "--json"));
});

test.each(["docs/architecture.md", "CONTRIBUTING.md"])("every file and folder that %s names exists", (page) => {
  // A recipe creates a file that is not there yet.
  const path = /(?<!Create )`((?:src|extensions|packages|test|lab|docs)\/(?!NAME)[\w./-]*)`|\]\((decisions\/[^)]+)\)/g;
  const paths = [...read(page).matchAll(path)].map(([, path, decision]) => path ?? `docs/${decision}`);
  expect(paths.length).toBeGreaterThan(10);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("the page on vendors is what bun docs/vendors.ts writes", () => {
  expect(read("docs/importing/vendors.md")).toBe(vendorsPage());
});

describe("the API in detail has, as the contract has them,", () => {
  /** The rows of the table under a heading, its cells without the marks of code. */
  const rowsUnder = (heading: string) =>
    [...(read("docs/api.md").split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? "").matchAll(/^\| (.+) \|$/gm)]
      .map(([, row = ""]) => row.split(" | ").map((cell) => cell.replace(/^`(.+)`$/, "$1")))
      .slice(1);

  const typeOf = (schema: TSchema): string => {
    const { type, format } = { ...schema["anyOf"]?.[0], ...schema };
    return format === undefined ? type : `${type} (${format})`;
  };

  test("the parameters with their types, defaults, and examples", () => {
    const known = Object.entries<TSchema>(LeadParameters.properties).map(([name, schema]) => {
      const { description, error, examples = ["true"], default: fallback = "none" } = schema;
      return [name, typeOf(schema), String(fallback), String(examples[0]), `${description} Takes ${error}.`];
    });
    expect<unknown[]>(rowsUnder("Parameters")).toEqual(known);
  });

  test.each<[string, TSchema, Readonly<Record<string, unknown>> | undefined]>([
    ["Fields of a lead", Lead, leadExamples.page.value.data[0]],
    ["Fields of a page", LeadList, { ...leadExamples.page.value, data: "[…]" }],
    ["Fields of a pixel", Pixel, pixelExamples.pixels.value.data[0]],
    ["Fields of the usage", Usage, usageExamples.usage.value],
  ])("the %s with their types and examples", (heading, schema, example) => {
    const known = Object.entries<TSchema>(schema["properties"]).map(([name, field]) => {
      const meaning = field.description ?? expect.stringMatching(/^(Always|The leads)/);
      return [name, typeOf(field), "anyOf" in field ? "yes" : "no", String(example?.[name]), meaning];
    });
    expect<unknown[]>(rowsUnder(heading)).toEqual(known);
  });

  test("the fields that are never null", () => {
    const never = Object.entries(Lead.properties).filter(([, schema]) => !("anyOf" in schema));
    const said = /^Every field .*? (`id`.*?) are never `null`/m.exec(read("docs/api.md"))?.[1] ?? "";
    expect([...said.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name)).toEqual(never.map(([name]) => name));
  });

  test("the errors", () => {
    // The sentence after the status is the condition of the error in openapi.json.
    const sections = [...read("docs/api.md").matchAll(/^### (\w+)\n\n\*\*(\d+)\.\*\* (.+?\.)\s/gms)];
    const listed = sections.map(([, code, status, text = ""]) => [code, status, text.replaceAll(/\s+/g, " ")]);
    const known = errorCodes.map((code) => [code, String(errors[code].status), errors[code].condition]);
    expect(listed).toEqual(known);
    const rows = errorCodes.map((code) => [`[${code}](#${code})`, String(errors[code].status), expect.any(String)]);
    expect<unknown[]>(rowsUnder("Errors")).toEqual(rows);
    const passing = errorCodes.filter((code) => errors[code].status === 429 || errors[code].status >= 500);
    expect(rowsUnder("Errors").filter(([, , again]) => again !== "no")).toHaveLength(passing.length);
  });

  test("the responses", () => {
    const shown = [...read("docs/api.md").matchAll(/^```json\n([\s\S]*?)^```$/gm)];
    const [page, pixels, usage] = [leadExamples.page, pixelExamples.pixels, usageExamples.usage].map(
      ({ value }) => value,
    );
    const refused = errorBody(plainError("missing_api_key"), "http://127.0.0.1:3000");
    const described = [page, leadExamples.page.value.data[0], pixels, usage, refused];
    expect<unknown[]>(shown.map(([, text = ""]) => JSON.parse(text))).toEqual(described);
  });

  test("the headers", () => {
    const section = read("docs/api.md").split("## Headers\n")[1]?.split("\n## ")[0] ?? "";
    const named = [...section.matchAll(/`([\w-]+)`/g)].map(([, name]) => name);
    expect<unknown[]>(named).toEqual(Object.keys(responseHeaders(60)));
  });
});

test("every documented bun admin command exists", () => {
  const command = /bun admin ((?:account|pixel|key|lead) [a-z-]+)/g;
  const named = [readme, ...pages.map(read)].flatMap((text) =>
    [...text.matchAll(command)].map(([, words = ""]) => words),
  );
  expect(named.length).toBeGreaterThan(0);
  for (const words of named) commandAt(...words.split(" "));
});

const program = await theProgram();

function commandAt(...names: string[]): Command {
  return names.reduce((command, name) => {
    const next = command.commands.find((child) => child.name() === name);
    if (next === undefined) throw new Error(`there is no command ${names.join(" ")}`);
    return next;
  }, program);
}
