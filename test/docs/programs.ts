/** The programs of docs/api.md, as /docs shows them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { blocksOf } from "./walkthrough.ts";

export type Language = "sh" | "ts" | "python";

const page = readFileSync(join(import.meta.dir, "../../docs/api.md"), "utf8");

/** The program under a heading in a language, for the server at an origin. */
export function programOf(heading: string, language: Language, origin: string): string {
  const [, section = ""] = page.split(`## ${heading}\n`);
  const block = blocksOf(section.split("\n## ")[0] ?? "").find(({ info }) => info === language);
  if (block === undefined) throw new Error(`docs/api.md has no program in ${language} under ${heading}`);
  return block.text.replaceAll("http://127.0.0.1:3000", origin);
}
