/**
 * Clients that generators make from /openapi.json read every one of 6,000 leads. Each test measures a row of the table in
 * docs/generated-clients.md, generates with the command of that page, and runs the reader next to this file.
 */
import { expect, test } from "bun:test";
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { aLead, someLeads } from "../../support/builders.ts";
import { aFolder } from "../../support/folder.ts";
import { serve } from "../../support/harness.ts";
import { needing } from "../../support/needing.ts";

const root = join(import.meta.dir, "../../..");
const page = readFileSync(join(root, "docs/generated-clients.md"), "utf8");

/** The folder in which .ci/run installs the generators. */
const tools = join(homedir(), ".cache/leadfile-tools");
const npm = join(tools, "generators/node_modules");
const python = join(tools, "generators-python/bin");
const jar = join(tools, "java/openapi-generator-cli-7.25.0.jar");
const annotations = join(tools, "java/javax.annotation-api-1.3.2.jar");

/** The programs that the commands of the page start, if they are not on the PATH. */
const started = { npx: `${process.execPath} x --no-install --bun`, "openapi-generator-cli": `java -jar ${jar}` };

/** Runs a command in a folder to its end, and returns what it printed. Throws if it fails. */
const run = (folder: string, ...command: string[]) =>
  Bun.$`${command}`
    .cwd(folder)
    .env({ ...process.env, PATH: [join(folder, "bin"), python, join(tools, "bin"), process.env["PATH"]].join(":") })
    .text();

/** The requirements of a reader, its build steps, and its start command. */
interface Language {
  readonly folder: string;
  readonly needs: readonly string[];
  prepare?(folder: string, reader: string): Promise<unknown>;
  start(folder: string, reader: string): string[];
}

/** Compiles with the TypeScript of this repository, and the settings of a strict project. */
const TypeScript: Language = {
  folder: "typescript",
  needs: [npm],
  async prepare(folder, reader) {
    const typeRoots = [join(root, "node_modules/@types")];
    const compilerOptions = {
      ...{ strict: true, noEmit: true, target: "ESNext", module: "Preserve", moduleResolution: "Bundler" },
      ...{ lib: ["ESNext", "DOM", "DOM.Iterable"], types: ["bun"], typeRoots, skipLibCheck: true },
      ...{ noUncheckedIndexedAccess: true, allowImportingTsExtensions: true },
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [`${reader}.ts`] }));
    await run(folder, process.execPath, join(root, "node_modules/typescript/bin/tsc"), "-p", folder);
  },
  start: (_folder, reader) => [process.execPath, `${reader}.ts`],
};
const Python: Language = {
  folder: "python",
  needs: [join(python, "python3")],
  start: (_folder, reader) => [join(python, "python3"), `${reader.replaceAll("-", "_")}.py`],
};
const Go: Language = {
  folder: "go",
  needs: ["go"],
  prepare: (folder, reader) => run(folder, "go", "build", "-o", "reader", `./${reader}`),
  start: (folder) => [join(folder, "reader")],
};
// The generator itself contains the libraries that its clients need.
const classpath = [jar, annotations, "classes"].join(":");
const Java: Language = {
  folder: "java",
  needs: ["javac", annotations],
  async prepare(folder) {
    const sources = [...new Bun.Glob("src/main/**/*.java").scanSync(folder), "Reader.java"];
    await run(folder, "javac", "-nowarn", "-cp", classpath, "-d", "classes", ...sources);
  },
  start: () => ["java", "-cp", classpath, "Reader"],
};

const ofNpm = (name: string) => () => JSON.parse(readFileSync(join(npm, name, "package.json"), "utf8")).version;
const ofPython = (name: string) => async () =>
  (await run(root, "python3", "-c", `import importlib.metadata as m; print(m.version("${name}"))`)).trim();
const ofGo = (program: string) => async () =>
  /^\tmod\t\S+\tv(\S+)/m.exec(await run(root, "go", "version", "-m", join(tools, "bin", program)))?.[1];
const ofJar = () => /([\d.]+)\.jar$/.exec(jar)?.[1];

/** The heading of each generator on the page, its language, its reader, and the command or file that gives its version. */
const generators = [
  ["openapi-typescript with openapi-fetch", TypeScript, "openapi-typescript", ofNpm("openapi-typescript")],
  ["hey-api", TypeScript, "hey-api", ofNpm("@hey-api/openapi-ts")],
  ["orval", TypeScript, "orval", ofNpm("orval")],
  ["kubb", TypeScript, "kubb", ofNpm("@kubb/cli")],
  ["openapi-generator for typescript-axios", TypeScript, "typescript-axios", ofJar, "java", jar],
  ["openapi-python-client", Python, "openapi-python-client", ofPython("openapi-python-client")],
  ["datamodel-code-generator", Python, "datamodel-code-generator", ofPython("datamodel-code-generator")],
  ["openapi-generator for Python", Python, "openapi-generator", ofJar, "java", jar],
  ["oapi-codegen", Go, "oapi-codegen", ofGo("oapi-codegen"), join(tools, "bin/oapi-codegen")],
  ["ogen", Go, "ogen", ofGo("ogen"), join(tools, "bin/ogen")],
  ["openapi-generator for Go", Go, "openapi-generator", ofJar, "java", jar],
  ["openapi-generator for Java", Java, "Reader", ofJar, "java", jar],
] as const;

for (const [heading, language, reader, version, ...needs] of generators) {
  needing(...language.needs, ...needs)(`${heading}: every lead is read`, async () => {
    const { folder, expected, read } = await aServedDescription();
    cpSync(join(import.meta.dir, language.folder), folder, { recursive: true });
    await generate(folder, heading);
    await language.prepare?.(folder, reader);
    const command = language.start(folder, reader);
    expect(await read(command, "today")).toEqual(expected);

    const isReady = Bun.deepEquals(await read(command, "later").catch(() => null), {
      ...expected,
      code: "added_later",
    });
    const name = Object.entries({ TypeScript, Python, Go, Java }).find(([, one]) => one === language)?.[0];
    const link = `[${heading}](#${heading.toLowerCase().replaceAll(" ", "-")})`;
    expect(tableOfPage()).toContain(`| ${link} | ${name} | ${await version()} | yes | ${isReady ? "yes" : "no"} |`);
  });
}

test("the table of the page has a row for each of these generators, and no other", () => {
  expect(tableOfPage().map((row) => /^\| \[(.*?)\]/.exec(row)?.[1])).toEqual(generators.map(([heading]) => heading));
});

const tableOfPage = (): string[] => page.split("\n").filter((line) => line.startsWith("| ["));

/** Runs the command that the page has under a heading. */
async function generate(folder: string, heading: string): Promise<void> {
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  const [, command = ""] = /^```sh\n([\s\S]*?)^```$/m.exec(section) ?? [];
  expect(command).not.toBe("");
  mkdirSync(join(folder, "bin"));
  for (const [program, start] of Object.entries(started)) {
    writeFileSync(join(folder, "bin", program), `#!/bin/sh\nexec ${start} "$@"\n`);
    chmodSync(join(folder, "bin", program), 0o755);
  }
  symlinkSync(npm, join(folder, "node_modules"));
  await run(folder, "sh", "-ec", command);
}

/** A server with 6,000 leads, its description in a file, and what every reader must print. */
async function aServedDescription() {
  const leads = [...someLeads(5_998), aLead({ state: "NV", name: "Zoë" }), aLead({ state: "NV", email: null })];
  const server = await serve({ leads });
  const folder = aFolder();
  writeFileSync(join(folder, "openapi.json"), await (await fetch(`${server.url}/openapi.json`)).text());
  return {
    folder,
    expected: {
      leads: 6_000,
      newest: Math.floor(Date.parse(leads.at(-1)?.identified_at ?? "") / 1000),
      names: ["Zoë"],
      pixels: ["px_site active"],
      requests: 63,
      code: "unknown_pixel",
    },
    /** Runs a reader with a key of its own, and returns what it printed. A later server adds a field and a code. */
    async read(command: readonly string[], version: "today" | "later"): Promise<unknown> {
      using later = Bun.serve({ port: 0, fetch: (request) => asAnsweredLater(server.url, request) });
      const url = version === "later" ? `http://127.0.0.1:${later.port}` : server.url;
      return JSON.parse(await run(folder, ...command, url, server.aKey()));
    },
  };
}

/** The answer of a later version, which has one more field in each object, and another code for a pixel. */
async function asAnsweredLater(baseUrl: string, request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const answer = await fetch(`${baseUrl}${pathname}${search}`, {
    headers: { Authorization: request.headers.get("Authorization") ?? "" },
  });
  const text = (await answer.text()).replaceAll("{", '{"added":1,').replace('"unknown_pixel"', '"added_later"');
  const headers = new Headers(answer.headers);
  for (const name of ["Content-Length", "Content-Encoding"]) headers.delete(name);
  return new Response(text, { status: answer.status, headers });
}
