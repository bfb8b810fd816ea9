/** The documentation as Markdown: docs/api.md, for a server at an origin. */
import markdown from "../../../docs/api.md" with { type: "text" };
import { publicPaths } from "../../contract/paths.ts";
import { adminCommand } from "../../runtime/program-name.ts";

/** The origin in docs/api.md, in the place of that of the server. */
export const writtenOrigin = "http://127.0.0.1:3000";

/** Returns the Markdown of all pages, in which `writtenOrigin` stands for the origin of the server. */
export function referenceText(): string {
  return markdown.replaceAll("bun admin", adminCommand);
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
