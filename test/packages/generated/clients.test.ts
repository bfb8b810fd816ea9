/** Clients that generators make from /openapi.json read every one of 6,000 leads (docs/generated-clients.md). */
import { expect, test } from "bun:test";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { aLead, someLeads } from "../../support/builders.ts";
import { aFolder } from "../../support/folder.ts";
import { serve } from "../../support/harness.ts";
import { needing } from "../../support/needing.ts";

const root = join(import.meta.dir, "../../..");
const readers = import.meta.dir;
/** The folder in which .ci/run installs the generators, but for those in Python. */
const tools = join(homedir(), ".cache/leadfile-tools");
const python = join(root, ".venv/bin");
const PATH = [python, join(tools, "bin"), process.env["PATH"]].join(":");

/** Runs a command in a folder to its end, and returns what it printed. Throws if it fails. */
const run = (folder: string, ...command: string[]) =>
  Bun.$`${command}`
    .cwd(folder)
    .env({ ...process.env, PATH })
    .text();

const page = readFileSync(join(root, "docs/generated-clients.md"), "utf8");

/** Runs the command that the page has under a heading. A program that is not on the path is given as its command. */
async function generate(
  folder: string,
  heading: string,
  programs: Readonly<Record<string, string>> = {},
): Promise<void> {
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  const [, command = ""] = /^```sh\n([\s\S]*?)^```$/m.exec(section) ?? [];
  mkdirSync(join(folder, "bin"));
  for (const [program, started] of Object.entries(programs)) {
    writeFileSync(join(folder, "bin", program), `#!/bin/sh\n${started} "$@"\n`);
    chmodSync(join(folder, "bin", program), 0o755);
  }
  expect(command).not.toBe("");
  await run(folder, "sh", "-ec", `PATH=${folder}/bin:$PATH\n${command}`);
}

/** A server with 6,000 leads, its description in a file, and what every reader must print. */
async function aServedDescription() {
  const leads = [...someLeads(5_998), aLead({ state: "NV", name: "Zoë" }), aLead({ state: "NV", email: null })];
  const server = await serve({ leads });
  const folder = aFolder();
  writeFileSync(join(folder, "openapi.json"), await (await fetch(`${server.url}/openapi.json`)).text());
  const key = server.aKey();
  return {
    folder,
    /** Runs a reader, whose last line must say that it read everything. */
    async read(...command: string[]) {
      const printed = await run(folder, ...command, server.url, key);
      expect(JSON.parse(printed)).toEqual({
        leads: 6_000,
        newest: Math.floor(Date.parse(leads.at(-1)?.identified_at ?? "") / 1000),
        names: ["Zoë"],
        pixels: ["px_site active"],
        requests: 63,
        code: "unknown_pixel",
      });
    },
  };
}

const openapiTypescript = join(tools, "openapi-typescript/node_modules/openapi-typescript/bin/cli.js");

needing(openapiTypescript)(
  "openapi-typescript and openapi-fetch: every lead is read, and no wrong parameter",
  async () => {
    const { folder, read } = await aServedDescription();
    await generate(folder, "openapi-typescript", { npx: `shift\nexec ${process.execPath} ${openapiTypescript}` });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    copyFileSync(join(root, "tsconfig.json"), join(folder, "base.json"));
    writeFileSync(join(folder, "tsconfig.json"), '{"extends":"./base.json","include":["reader.ts"],"exclude":[]}');
    copyFileSync(join(readers, "typescript/reader.ts"), join(folder, "reader.ts"));
    const compiler = [process.execPath, join(root, "node_modules/typescript/bin/tsc"), "-p", folder];
    expect(await run(folder, ...compiler)).toBe("");
    await read(process.execPath, "reader.ts");

    const wrong = readFileSync(join(folder, "reader.ts"), "utf8").replace("pixel_id: ", "pixel: ");
    writeFileSync(join(folder, "reader.ts"), wrong);
    expect(Bun.spawnSync(compiler, { cwd: folder }).stdout.toString()).toContain("pixel");
  },
);

needing(join(python, "openapi-python-client"))("openapi-python-client: every lead is read", async () => {
  const { folder, read } = await aServedDescription();
  await generate(folder, "openapi-python-client");
  copyFileSync(join(readers, "python/reader.py"), join(folder, "reader.py"));
  await read(join(python, "python3"), "reader.py");
});

const generator = join(tools, "java/openapi-generator-cli-7.25.0.jar");
const annotations = join(tools, "java/javax.annotation-api-1.3.2.jar");
/** The command of the page, which starts the jar. */
const openapiGenerator = { "openapi-generator-cli": `exec java -jar ${generator}` };

needing(
  "java",
  generator,
  join(python, "python3"),
)("openapi-generator for Python: every lead is read", async () => {
  const { folder, read } = await aServedDescription();
  await generate(folder, "openapi-generator for Python", openapiGenerator);
  copyFileSync(join(readers, "openapi-generator/reader.py"), join(folder, "reader.py"));
  await read(join(python, "python3"), "reader.py");
});

needing(
  "java",
  "javac",
  generator,
  annotations,
)("openapi-generator for Java: every lead is read", async () => {
  const { folder, read } = await aServedDescription();
  await generate(folder, "openapi-generator for Java", openapiGenerator);
  copyFileSync(join(readers, "openapi-generator/Reader.java"), join(folder, "Reader.java"));
  const sources = [...new Bun.Glob("src/main/**/*.java").scanSync(folder), "Reader.java"];
  // The generator itself contains the libraries that its clients need.
  const classpath = [generator, annotations, "classes"].join(":");
  await run(folder, "javac", "-nowarn", "-cp", classpath, "-d", "classes", ...sources);
  await read("java", "-cp", classpath, "Reader");
});

needing("go", join(tools, "bin/oapi-codegen"))("oapi-codegen for Go: every lead is read", async () => {
  const { folder, read } = await aServedDescription();
  for (const name of ["go.mod", "go.sum", "reader.go"]) copyFileSync(join(readers, "go", name), join(folder, name));
  await generate(folder, "oapi-codegen");
  await run(folder, "go", "build", "-o", "reader", ".");
  await read(join(folder, "reader"));
});

test("the page names every version with which .ci/run tests", () => {
  const versions = {
    "openapi-fetch": readFileSync(join(root, "package.json"), "utf8"),
    ci: readFileSync(join(root, ".ci/run"), "utf8"),
  };
  const tested = [...page.matchAll(/^\| \[.*\| (.+) \|$/gm)].flatMap(([, names = ""]) => names.split(", "));
  expect(tested).toHaveLength(5);
  expect(tested.filter((version) => !Object.values(versions).some((text) => text.includes(version)))).toEqual([]);
});
