/** The examples, run as a reader runs them: every lead arrives, over the limit, orderly stops, and power cuts. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { aBusyServer } from "../docs/programs.ts";
import { answering } from "../support/answering.ts";
import { aLead, someLeads } from "../support/builders.ts";
import { until } from "../support/eventually.ts";
import { aFolder } from "../support/folder.ts";
import { serve } from "../support/harness.ts";
import { start } from "../support/process.ts";

const folderOfExamples = join(import.meta.dir, "../../examples");
const examples = readdirSync(folderOfExamples);

/** Runs an example in a folder. */
function runExample(name: string, args: readonly string[], folder: string, settings: Readonly<Record<string, string>>) {
  return start(settings, folder, [process.execPath, join(folderOfExamples, name), ...args]);
}

interface Case {
  readonly file: string;
  readonly every: string;
  /** The beginning of a record that a power cut may leave. */
  readonly half?: string;
  /** Returns the leads in the file, in their order. Throws if a part of the file is not complete yet. */
  readonly read: (path: string) => { id: string }[];
}

const wholeLines = (path: string) => {
  const text = readFileSync(path, "utf8");
  return text.slice(0, text.lastIndexOf("\n") + 1);
};

/** Each example that writes a file. */
const cases: Readonly<Record<string, Case>> = {
  "leads-to-csv.ts": {
    file: "leads.csv",
    every: "50ms",
    half: '"half a row","',
    read: (path) => parse(wholeLines(path), { columns: true }), // The header names the column.
  },
  "leads-to-sqlite.ts": {
    file: "copy.db",
    every: "50ms",
    read(path) {
      using db = new Database(path, { readonly: true });
      return db.query<{ id: string }, []>("SELECT id FROM leads ORDER BY identified_at").all();
    },
  },
};

/** The IDs of the leads in a file that an example writes; none while a part of the file is not complete yet. */
function idsIn(path: string, example: Case | undefined): string[] {
  try {
    return example?.read(path).map(({ id }) => id) ?? [];
  } catch {
    return [];
  }
}

for (const name of examples) {
  test(`${name} says in one line that it needs a key`, async () => {
    const { exited, errors } = runExample(name, [], aFolder(), {});
    await exited;
    expect(errors()).toBe("Set LEADFILE_KEY to an API key.\n");
  });

  test(`${name} says why it gets no leads`, async () => {
    const body = { error: { code: "rate_limit_exceeded" } };
    const url = answering(() => Response.json(body, { status: 429, headers: { "Retry-After": "900" } }));
    const folder = aFolder();
    const settings = { LEADFILE_KEY: "lf_0123456789" };
    const { errors } = runExample(name, [url, join(folder, "leads")], folder, settings);
    await until(() => /again/.test(errors()));
  });
}

for (const [name, { file, every, half }] of Object.entries(cases)) {
  test(`${name} has every one of 2,000 leads once, over a power cut and an orderly stop`, async () => {
    const { url, aKey, importMore, leads } = await aBusyServer([aLead({ name: 'Dana "D", Łódź\nsecond line' })]);
    const more = [1, 2, 3].map((minute) =>
      aLead({ identified_at: new Date(Date.now() + minute * 60_000).toISOString() }),
    );
    const folder = aFolder();
    const path = join(folder, file);
    const run = () => runExample(name, [url, file, every], folder, { LEADFILE_KEY: aKey() });
    const ids = () => idsIn(path, cases[name]);
    // One that ends too early is named with what it said.
    const has = (running: ReturnType<typeof run>, holds: () => boolean) =>
      Promise.race([until(holds), running.exited.then(() => Promise.reject(new Error(running.errors())))]);
    const first = run();
    await has(first, () => ids().length > 0);
    await first.end("SIGKILL");
    if (half !== undefined) appendFileSync(path, half);
    for (const lead of more) {
      importMore([lead]);
      const running = run();
      await has(running, () => ids().at(-1) === lead.id);
      expect(await running.end("SIGINT")).toBe(0);
      expect(running.errors()).toBe("");
    }
    expect(ids()).toEqual([...leads, ...more].map(({ id }) => id));
  });
}

test("leads-to-sqlite.ts waits for a program that reads its file", async () => {
  const { url, aKey } = await serve({ leads: someLeads(1) });
  const folder = aFolder();
  const path = join(folder, "copy.db");
  using reader = new Database(path);
  reader.run("CREATE TABLE other (number)");
  reader.run("BEGIN");
  reader.query("SELECT * FROM other").all();
  const running = runExample("leads-to-sqlite.ts", [url, path, "50ms"], folder, { LEADFILE_KEY: aKey() });
  // On a slow machine, it begins only after that, and has nothing to wait for.
  await Promise.race([Bun.sleep(1_000), running.exited]);
  reader.run("COMMIT");
  await Promise.race([until(() => idsIn(path, cases["leads-to-sqlite.ts"]).length === 1), running.exited]);
  expect([await running.end("SIGINT"), running.errors()]).toEqual([0, ""]);
});

test("leads-to-csv.ts writes no cell that a spreadsheet would run as a formula", async () => {
  const { url, aKey } = await serve({ leads: [aLead({ name: "=1+1", company: "＠SUM(A1)", city: "-1" })] });
  const folder = aFolder();
  const path = join(folder, "leads.csv");
  const running = runExample("leads-to-csv.ts", [url, path, "50ms"], folder, { LEADFILE_KEY: aKey() });
  await until(() => existsSync(path) && wholeLines(path).split("\n").length === 3);
  expect(await running.end("SIGINT")).toBe(0);
  expect(parse(readFileSync(path), { columns: true })).toMatchObject([
    { name: "'=1+1", company: "'＠SUM(A1)", city: "'-1" },
  ]);
});

for (const name of ["leads-to-csv.ts"]) {
  test(`${name} changes only files that it created`, async () => {
    const { url, aKey } = await serve({ leads: someLeads(1) });
    const folder = aFolder();
    writeFileSync(join(folder, "mine.txt"), "years of work");
    const running = runExample(name, [url, "mine.txt"], folder, { LEADFILE_KEY: aKey() });
    await running.exited;
    expect(running.errors()).toContain("without a checkpoint");
    expect(readFileSync(join(folder, "mine.txt"), "utf8")).toBe("years of work");
  });
}

test("every example is tested here, and starts with how to run it", () => {
  expect(examples.toSorted()).toEqual(Object.keys(cases).toSorted());
  for (const name of examples) {
    const head = readFileSync(join(folderOfExamples, name), "utf8").slice(0, 600);
    expect(head).toContain(`bun examples/${name} https://www.example.com`);
    expect(head).toContain("LEADFILE_KEY=");
  }
});
