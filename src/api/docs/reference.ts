/** The documentation as Markdown: docs/api.md with tables of the contract, for a server at an origin. */
import type { TSchema } from "@sinclair/typebox";
import markdown from "../../../docs/api.md" with { type: "text" };
import { Lead } from "../../contract/lead.ts";
import { LeadParameters } from "../../contract/parameters.ts";
import { publicPaths } from "../../contract/paths.ts";
import { adminCommand } from "../../runtime/program-name.ts";

/** The origin in docs/api.md, in the place of that of the server. */
export const writtenOrigin = "http://127.0.0.1:3000";

/** Returns the Markdown of all pages, in which `writtenOrigin` stands for the origin of the server. */
export function referenceText(): string {
  return withTable(withTable(markdown, "Parameters", parameterTable()), "Fields of a lead", fieldTable()).replaceAll(
    "bun admin",
    adminCommand,
  );
}

/** Returns the documentation of the server at an origin as Markdown, with absolute links. */
export function docsText(origin: string): string {
  return referenceText()
    .replaceAll(/^```(\w+)\n[\s\S]*?^```$/gm, (block, language) =>
      block.replaceAll(writtenOrigin, () => inCode(origin, language)),
    )
    .replaceAll(writtenOrigin, () => origin)
    .replaceAll("](#", () => `](${origin}${publicPaths.docs}#`);
}

/** Returns the same for language models, as llmstxt.org specifies: a summary, then links, then sections. */
export function llmsText(origin: string): string {
  const [, ...sections] = docsText(origin).split(/^## /m);
  const { docsText: text, openapi, client } = publicPaths;
  return `# Leadfile API

> The identified visitors (leads) of websites as JSON, read-only: three GET endpoints at ${origin}, an API key in the
> Authorization header, cursor paging with before, and polling with since.

- [Documentation](${origin}${text}): all of the following as Markdown
- [OpenAPI 3.1](${origin}${openapi}): the description from which clients are generated
- [TypeScript client](${origin}${client}): the package that npm installs

${sections.map((section) => `## ${section}`).join("")}`;
}

/** Writes an origin as the text between double quotes of a language. The owner may have set an odd BASE_URL. */
export function inCode(origin: string, language: string): string {
  const special = { sh: /[\\"$`]/g, php: /[\\"$]/g }[language] ?? /[\\"]/g;
  return origin.replaceAll(special, String.raw`\$&`);
}

/** Replaces the table under a heading. */
function withTable(text: string, heading: string, table: string): string {
  const start = text.indexOf("\n|", text.indexOf(`\n## ${heading}\n`)) + 1;
  const end = text.indexOf("\n\n", start);
  return text.slice(0, start) + table + text.slice(end);
}

const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
const code = (value: unknown) => (value === undefined ? "" : `\`${value}\``);

function parameterTable(): string {
  const rows = Object.entries<TSchema>(LeadParameters.properties).map(([name, schema]) => {
    const { description, error, examples, default: fallback } = schema;
    const says = `${description} Takes ${error}.`;
    return [
      code(name),
      typeOf(schema),
      fallback === undefined ? "none" : code(fallback),
      code(examples?.[0] ?? true),
      says,
    ];
  });
  return tableOf(["parameter", "type", "default", "example", "meaning"], rows);
}

function fieldTable(): string {
  const [page = ""] = /(?<=^```json\n)[\s\S]*?(?=^```$)/m.exec(markdown) ?? [];
  const [example]: Readonly<Record<string, unknown>>[] = JSON.parse(page).data;
  const rows = Object.entries<TSchema>(Lead.properties).map(([name, schema]) => {
    const isNullable = "anyOf" in schema;
    const shown = example?.[name] ?? (isNullable ? "null" : undefined);
    return [code(name), typeOf(schema), isNullable ? "yes" : "no", code(shown), schema.description ?? ""];
  });
  return tableOf(["field", "type", "nullable", "example", "meaning"], rows);
}

function typeOf(schema: TSchema): string {
  const { type, format } = { ...schema["anyOf"]?.[0], ...schema };
  return format === undefined ? type : `${type} (${format})`;
}
