/** The recipes of CONTRIBUTING.md, followed to the letter in a copy of the project: type check, migration, and one request. */
import { beforeAll, expect, test } from "bun:test";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { aLead } from "./support/builders.ts";
import { start } from "./support/process.ts";
import { aSharedFolder } from "./support/run.ts";

const root = join(import.meta.dir, "..");
const copied = [
  "src",
  "extensions",
  "packages",
  "connectors",
  "drizzle",
  "docs",
  "data",
  "package.json",
  "tsconfig.json",
];
const copy = join(aSharedFolder(), "project");

/** Runs a program in the copy, and returns its output. Throws with the output if it fails. */
function run(...words: readonly string[]): string {
  const ended = Bun.spawnSync([...words], { cwd: copy, env: { PATH: process.env["PATH"] ?? "", HOME: copy } });
  const output = `${ended.stdout}${ended.stderr}`;
  if (ended.exitCode !== 0) throw new Error(`${words.join(" ")}: ${output}`);
  return output;
}

/** Does what the recipe under a heading says: creates files, and adds entries at the end of lists and tables. */
function follow(heading: string): void {
  const recipe =
    readFileSync(join(root, "CONTRIBUTING.md"), "utf8").split(`### ${heading}\n`)[1]?.split("\n### ")[0] ?? "";
  for (const [, path = "", code = ""] of recipe.matchAll(/^Create `([^`]+)`:\n\n```ts\n([\s\S]*?)^```$/gm)) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    writeFileSync(join(copy, path), code);
  }
  const additions = recipe.matchAll(/^In `([^`]+)`, (import it, and )?add to `(\w+)`:\n\n```ts\n([\s\S]*?)^```$/gm);
  for (const [, path = "", isImported, list = "", code = ""] of additions) {
    const name = code.trim().replace(",", "");
    if (isImported !== undefined) insert(path, "import ", `import { ${name} } from "./${name}.ts";\n`);
    const begin = readFileSync(join(copy, path), "utf8").search(new RegExp(`^(?:export )?const ${list}\\b`, "m"));
    expect(begin).toBeGreaterThan(0);
    insert(path, /^[}\]]/m, code, begin);
  }
}

/** Inserts code before a text that comes after a position. */
function insert(path: string, before: string | RegExp, code: string, from = 0): void {
  const text = readFileSync(join(copy, path), "utf8");
  const end = from + text.slice(from).search(before);
  writeFileSync(join(copy, path), text.slice(0, end) + code + text.slice(end));
}

beforeAll(() => {
  for (const name of copied) cpSync(join(root, name), join(copy, name), { recursive: true });
  cpSync(join(root, "drizzle.config.ts"), join(copy, "drizzle.config.ts"));
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  const config = JSON.parse(readFileSync(join(copy, "tsconfig.json"), "utf8"));
  writeFileSync(join(copy, "tsconfig.json"), JSON.stringify({ ...config, include: ["src", "extensions", "packages"] }));
  follow("Add a filter");
  follow("Add a vendor");
  follow("Add a command");
});

test("the recipes pass the type check, and the migration of the filter adds its index alone", () => {
  // Several threads would check many types twice, while other tests run.
  run("node_modules/.bin/tsc", "--noEmit", "--singleThreaded");
  expect(run("node_modules/.bin/drizzle-kit", "generate", "--name", "recipe")).toContain("_recipe.sql");
  const [added = ""] = [...new Bun.Glob("drizzle/*_recipe.sql").scanSync(copy)];
  const statements = readFileSync(join(copy, added), "utf8").match(/^(?:CREATE|ALTER|DROP) .*$/gm);
  expect(statements).toEqual([expect.stringMatching(/^CREATE INDEX `leads_by_has_phone` ON `stored_leads`/)]);
});

test("a server of the copy filters by the new filter, alone and with others, and the new command runs", async () => {
  const file = join(copy, "leadfile.db");
  const environment = { PATH: process.env["PATH"] ?? "", HOME: copy, DATABASE_PATH: file, PORT: "0" };
  const admin = (...words: readonly string[]) => {
    const command = [process.execPath, "src/admin.ts", ...words];
    return start(environment, copy, command).finished();
  };
  await admin("account", "create", "acme");
  const leads = [
    aLead({ phone: "16195550142", state: "CA" }),
    aLead({ phone: null, state: "CA" }),
    aLead({ phone: null }),
  ];
  writeFileSync(join(copy, "leads.ndjson"), leads.map((lead) => JSON.stringify(lead)).join("\n"));
  await admin("lead", "import", "acme", "leads.ndjson", "--create-pixels");
  const key = JSON.parse((await admin("key", "create", "acme", "--json")).stdout).key;
  const server = start(environment, copy, [process.execPath, "src/main.ts"]);
  const url = await server.listening();
  const idsOf = async (query: string) => {
    const answer = await fetch(`${url}/api/v1/leads?${query}`, { headers: { Authorization: `Bearer ${key}` } });
    const { data } = (await answer.json()) as { data: { id: string }[] }; // Compared below.
    return [answer.status, data.map(({ id }) => id)];
  };
  const withPhone = leads[0]?.id ?? "";
  expect(await idsOf("has_phone=true")).toEqual([200, [withPhone]]);
  expect(await idsOf("has_phone=true&state=CA&has_email=true")).toEqual([200, [withPhone]]);
  expect((await idsOf("has_phone=false"))[1]).toHaveLength(3);
  const wrong = await fetch(`${url}/api/v1/leads?has_phone=yes`, { headers: { Authorization: `Bearer ${key}` } });
  expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining("has_phone")]);
  expect(await admin("newest", "acme")).toMatchObject({ status: 0, stdout: `${leads.at(-1)?.identified_at}\n` });
});

test("a record of the new vendor becomes the lead that its profile promises", async () => {
  const environment = { PATH: process.env["PATH"] ?? "", HOME: copy, DATABASE_PATH: join(copy, "vendor.db") };
  const admin = (...words: readonly string[]) =>
    start(environment, copy, [process.execPath, "src/admin.ts", ...words]).finished();
  const { acme } = await import(join(copy, "src/import/vendors/acme.ts"));
  writeFileSync(join(copy, "acme.csv"), acme.sample);
  await admin("account", "create", "acme");
  const imported = await admin("lead", "import", "acme", "acme.csv", "--pixel", "px", "--create-pixels", "--json");
  expect(JSON.parse(imported.stdout)).toMatchObject({ imported: 1, rejected: 0, vendor: "acme" });
  expect(JSON.parse((await admin("lead", "export", "acme")).stdout)).toMatchObject(acme.lead);
});
