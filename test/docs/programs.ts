/** The programs of docs/api.md and docs/client.md, run as a reader runs them, and the server that they meet. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Lead } from "../../src/contract/lead.ts";
import { answering } from "../support/answering.ts";
import { someLeads } from "../support/builders.ts";
import { aFolder } from "../support/folder.ts";
import { serve } from "../support/harness.ts";
import { type RunningProcess, start } from "../support/process.ts";
import { blocksOf } from "./walkthrough.ts";

export type Language = "sh" | "ts" | "python" | "go" | "php";

const docs = join(import.meta.dir, "../../docs");
const interpreters = {
  ...{ sh: ["sh", "-e"], ts: [process.execPath], mts: [process.execPath], python: ["python3"] },
  ...{ go: ["go", "run"], php: ["php"] },
};

interface Program {
  readonly heading: string;
  readonly language: string;
  readonly code: string;
}

/** The programs of a page, each with the heading above it. */
function programsOf(name: string): Program[] {
  const [, ...sections] = readFileSync(join(docs, name), "utf8").split("\n## ");
  return sections.flatMap((section) => {
    const [heading = ""] = section.split("\n", 1);
    return blocksOf(section).map(({ info, text }) => ({ heading, language: info, code: text }));
  });
}

/** The program of docs/api.md under a heading in a language, for the server at an origin. */
export function programOf(heading: string, language: Language, origin: string): string {
  const found = programsOf("api.md").find((program) => program.heading === heading && program.language === language);
  if (found === undefined) throw new Error(`docs/api.md has no program in ${language} under ${heading}`);
  return found.code.replaceAll("http://127.0.0.1:3000", origin);
}

/** The programs of docs/client.md. The page creates the client once, for all of them. */
export function clientPrograms(): Program[] {
  const programs = programsOf("client.md").filter(({ language }) => language === "ts");
  const beginning = programs[0]?.code.match(/^[\s\S]*?\n}\);\n/)?.[0] ?? "";
  return programs.map(({ code, ...program }, place) => ({ ...program, code: place === 0 ? code : beginning + code }));
}

/** Runs a program in a folder, with nothing of this machine's settings. */
export function run(
  language: keyof typeof interpreters,
  code: string,
  settings: Readonly<Record<string, string>>,
  folder = aFolder(),
): RunningProcess {
  const file = join(folder, `program.${language}`);
  writeFileSync(file, code);
  return start(settings, folder, [...interpreters[language], file]);
}

/** The output of a program that prints a line for each of 2,000 leads. */
export const aLineForEachLead = /^(?:.*\n){2000}/;

/** Starts a server of leads of the last hour, 2,000 with some given ones, that refuses some requests, as at the limit. */
export async function aBusyServer(given: readonly Lead[] = []) {
  const firstMs = Date.now() - 3_500_000;
  const leads = [...given, ...someLeads(2_000 - given.length)].map((lead, n) => ({
    ...lead,
    identified_at: new Date(firstMs + n * 1_500).toISOString(),
  }));
  const server = await serve({ leads, nowMs: Date.now() });
  const refusal = JSON.stringify({ error: { code: "rate_limit_exceeded" } });
  let asked = 0;
  const url = answering(({ url, headers }) => {
    if (++asked % 15 === 5) return new Response(refusal, { status: 429, headers: { "Retry-After": "0" } });
    return fetch(url.replace(/^http:\/\/[^/]+/, server.url), { headers });
  });
  return { ...server, url, leads };
}
