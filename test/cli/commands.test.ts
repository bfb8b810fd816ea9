/** The behavior shared by all commands: help, usage errors, a missing database, empty lists, and loaded files. */
import { describe, expect, onTestFinished, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandUnknownOpts as Command } from "@commander-js/extra-typings";
import { anAdmin, type Ended } from "../support/admin.ts";
import { aFolder } from "../support/folder.ts";
import { needing } from "../support/needing.ts";
import { sourceCommands, start } from "../support/process.ts";
import { theProgram } from "../support/program.ts";
import { toFullDisk } from "../support/small-disk.ts";

const run = (accounts: readonly string[], line: string) => anAdmin(accounts).run(...line.split(" "));

/** Checks that a command ended with one line of advice. */
function expectRefusal(ended: Ended, status: number): void {
  expect({ status: ended.status, stdout: ended.stdout }).toEqual({ status, stdout: "" });
  expect(ended.stderr).toMatch(/^[^\n]{20,}\n$/);
  expect(ended.stderr).not.toMatch(/\bat .*:\d+|TypeError|undefined|\bError\b/);
}

function commandsBelow(command: Command, path = ""): (readonly [path: string, command: Command])[] {
  return command.commands.flatMap((child) => {
    const here = `${path} ${child.name()}`.trim();
    return [[here, child] as const, ...commandsBelow(child, here)];
  });
}

const all = commandsBelow(await theProgram());

test.each(all)("the help of %s fits 80 columns, and its examples are commands with valid options", (path, command) => {
  let help = "";
  command.configureOutput({ writeOut: (text) => void (help += text) }).outputHelp();
  expect(help.split("\n").filter((line) => line.length > 80)).toEqual([]);
  const examples = help.split("Examples:\n")[1]?.trim().split("\n") ?? [];
  expect(examples.length).toBeGreaterThan(0);
  for (const example of examples) {
    const words = (example.split("bun admin ")[1] ?? "").split(/ [<>|] /)[0]?.match(/"[^"]*"|\S+/g) ?? [];
    const [name, called] = all.findLast(([name]) => `${words.join(" ")} `.startsWith(`${name} `)) ?? [];
    expect(`${name} `).toStartWith(`${path} `);
    const options = called?.options ?? [];
    const given = words.filter((word) => word.startsWith("--"));
    expect(given.filter((word) => !options.some(({ long }) => long === word))).toEqual([]);
    expect(options.filter(({ mandatory, long }) => mandatory && !given.includes(long ?? ""))).toEqual([]);
  }
});

test.each(["--help", "--version", "help", "lead --help", "lead import --help", "help lead"])(
  "%s ends with 0",
  async (line) => {
    const ended = await run(["acme"], line);
    expect(ended).toMatchObject({ status: 0, stderr: "" });
    if (line === "--help") expect(ended.stdout).toMatch(/First steps:\n(?: {2}bun admin .+\n)+ {2}bun start\n/);
  },
);

describe("a usage error ends with 2:", () => {
  const lines =
    "account|account make x|account create|account create a b|account list --loud|key revoke|key check --label|" +
    "lead import acme|lead import acme f.csv --on-duplicate merge|lead import acme f.csv --stamp never|" +
    "lead import acme f.csv --timezone Mars/Olympus|lead import acme f.csv --identity shoe_size|" +
    "lead import acme f.csv --map x|lead import acme f.csv --map x=shoe|lead import acme f.csv --pixel|" +
    "lead import acme f.csv --day-first --month-first|" +
    "lead export acme --format xml|pixel set-status acme px";
  test.each(lines.split("|").map((line) => [line]))("%s", async (line) => {
    const admin = anAdmin();
    admin.put("f.csv", "email\nd@example.com\n");
    const ended = await admin.run(...line.split(" "));
    expect({ status: ended.status, stdout: ended.stdout }).toEqual({ status: 2, stdout: "" });
    if (line !== "account") expectRefusal(ended, 2);
  });

  test.each([
    ["acount list", "account"],
    ["lead imprt acme x", "import"],
    ["key create acme --lable x", "--label"],
    ["demo --life", "--live"],
  ])("%s, and %s is suggested", async (line, meant) => {
    const ended = await run(["acme"], line);
    expectRefusal(ended, 2);
    expect(ended.stderr).toContain(`Did you mean ${meant}?`);
  });

  test.each([
    ["lead erase acme --email dana@example.com --email lee@example.com", "--email can be passed only once"],
    ["lead import acme f.csv --map a=name --map b=email", "--map can be passed only once"],
    ["lead import acme f.csv --map email=name,E-Mail=company", '--map names "E-Mail" twice'],
  ])("%s, and nothing is done", async (line, says) => {
    const admin = anAdmin();
    await admin.import("email\nlee@example.com\n", "--pixel", "px", "--create-pixels");
    admin.put("f.csv", "email\nd@example.com\n");
    const ended = await admin.run(...line.split(" "));
    expectRefusal(ended, 2);
    expect(ended.stderr).toContain(says);
    expect((await admin.leads()).map(({ email }) => email)).toEqual(["lee@example.com"]);
  });
});

test("--json as the value of another option is that value", async () => {
  const admin = anAdmin();
  expect((await admin.run("key", "create", "acme", "--label", "--json")).stdout).toMatch(/^lf_\w+\n$/);
  expect((await admin.run("key", "list", "acme", "--json")).json).toMatchObject([{ label: "--json" }]);
});

const ofAccount =
  "account activate X|pixel list X|pixel create X|key create X|key list X|lead export X|lead import X -";
test.each(ofAccount.split("|").map((line) => [line]))("%s ends with 1 if there is no such account", async (line) => {
  for (const json of line === "lead export X" ? [""] : ["", " --json"])
    expectRefusal(await run(["acme"], line + json), 1);
});

test.each([
  ["pixel list acme", "The account has no pixels."],
  ["key list acme", "The account has no keys."],
  ["import list acme", "The account has no imports."],
  ["audit list", "The audit log is empty."],
])("%s without an entry prints: %s", async (line, sentence) => {
  expect(await run(["acme"], line)).toMatchObject({ status: 0, stdout: `${sentence}\n`, stderr: "" });
  expect((await run(["acme"], `${line} --json`)).stdout).toBe("[]\n");
});

describe("without a database", () => {
  const creating = /^There is no database at \S+leadfile\.db yet\. To create one: bun admin account create NAME/;
  const lines =
    "account activate acme|account deactivate acme|pixel list acme|pixel create acme|pixel set-status acme px paused|" +
    "key list acme|key create acme|key revoke key_x --yes|key rotate key_x|lead export acme|" +
    "lead find acme --email dana@example.com|lead erase acme --email dana@example.com|" +
    "lead unblock acme --email dana@example.com|lead import acme - --pixel px|import list acme|import undo acme 1|" +
    "retain acme --days 30|audit list";
  test.each(lines.split("|").map((line) => [line]))("%s creates none, and says how to", async (line) => {
    const admin = anAdmin([]);
    const { status, stderr } = await admin.run(...line.split(" "));
    expect([status, stderr]).toEqual([1, expect.stringMatching(creating)]);
    expect(existsSync(admin.file)).toBe(false);
  });

  test.each(["backup x.db", "upgrade --check"])(
    "%s creates none, and says so if the path leads nowhere",
    async (line) => {
      const missing = anAdmin([]);
      expect((await missing.run(...line.split(" "))).status).toBe(1);
      expect(existsSync(missing.file)).toBe(false);
      const nowhere = anAdmin([], { DATABASE_PATH: `${import.meta.path}/leads.db` });
      const says = /^\S+leads\.db cannot be read \(ENOTDIR\)\. .*leadfile-admin/;
      expect(await nowhere.run(...line.split(" "))).toMatchObject({ status: 1, stderr: expect.stringMatching(says) });
    },
  );

  test.each([
    ["account list --json", 0, /^\[\]\n$/, false],
    ["doctor", 2, /There is no database at/, false],
    ["account create acme", 0, /^acc_/, true],
    ["demo", 0, /LEADFILE_KEY=/, true],
  ])("%s ends with %i", async (line, status, says, creates) => {
    const admin = anAdmin([]);
    const ended = await admin.run(...line.split(" "));
    expect([ended.status, ended.stdout]).toEqual([status, expect.stringMatching(says)]);
    expect(existsSync(admin.file)).toBe(creates);
  });
});

needing("/dev/full").describe("if standard output cannot be written", () => {
  test("the receipt of an erasure is in the file, and the erasure is complete", async () => {
    const { startUnder, import: importRows, leads, run } = anAdmin();
    await importRows("email,verified_email\ndana@example.com,d2@example.com\n", "--pixel", "px", "--create-pixels");
    const erasing = ["lead", "erase", "acme", "--email", "dana@example.com"];
    const { status, stderr } = await startUnder([], erasing, toFullDisk()).finished();
    expect(status).toBe(1);
    expect(stderr).toContain("Standard output could not be written (ENOSPC).");
    expect(stderr).toContain("To print the stored receipts, use receipt list ACCOUNT.");
    expect(stderr).toContain("No other lead has the email address");
    // Those of two email addresses and of the ID.
    expect(JSON.parse((await run("receipt", "list", "acme")).stdout).hashes).toHaveLength(3);
    expect(await leads()).toEqual([]);
  });

  test("key create prints the command that revokes the key", async () => {
    const { exited, errors } = anAdmin().startUnder([], ["key", "create", "acme"], toFullDisk());
    const says = "The key was created but could not be shown. Revoke it: bun admin key revoke key_";
    expect([await exited, errors()]).toEqual([1, expect.stringContaining(says)]);
  });
});

describe("the files that a command loads", () => {
  /** Runs a command in its own process, and returns the source files that it has loaded. */
  async function loadedBy(file: string, ...words: readonly string[]): Promise<string[]> {
    const [bun, program] = sourceCommands.admin;
    const preload = join(import.meta.dir, "../support/loaded-files.ts");
    const command = [bun, "--preload", preload, program, ...words];
    const { status, stderr } = await start({ DATABASE_PATH: file }, aFolder(), command).finished();
    if (status !== 0) throw new Error(stderr);
    return stderr.match(/(?<=^loaded ).*/gm) ?? [];
  }

  test("are at most 20 for key revoke", async () => {
    const admin = anAdmin();
    const { id } = (await admin.run("key", "create", "acme", "--json")).json;
    const loaded = await loadedBy(admin.file, "key", "revoke", id);
    expect(loaded).toContain("src/cli/key/revoke.ts");
    expect(loaded.length > 20 ? loaded : []).toEqual([]);
  });

  test("contain no command for --help, and no import for lead find", async () => {
    const { file } = anAdmin();
    const ofHelp = await loadedBy(file, "--help");
    expect(ofHelp.filter((path) => /^src\/(cli\/(key|lead|doctor)|import|backup)\//.test(path))).toEqual([]);
    const ofFind = await loadedBy(file, "lead", "find", "acme", "--email", "dana@example.com");
    expect(ofFind.filter((path) => /^src\/(cli\/lead\/import|import\/write|backup)\//.test(path))).toEqual([]);
  });
});

/** The tests run commands in a process that is kept. */
describe("a command in a kept process", () => {
  test.each(["lead export acme", "lead import acme nowhere.csv", "account creat"])(
    "prints and ends as in a process of its own, and closes the file: %s",
    async (line) => {
      const admin = anAdmin();
      await admin.import("date,pixel_id,email\n2026-01-31,px,dana@example.com\n");
      const inItsOwn = await admin.start(...line.split(" ")).finished();
      expect(await admin.run(...line.split(" "))).toMatchObject(inItsOwn);
      expect(statSync(`${admin.file}-wal`).size).toBe(0);
    },
  );
});

test("a relative path is resolved from the subfolder of the clone in which it was typed", async () => {
  const folder = mkdtempSync(join(import.meta.dir, "typed-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const admin = anAdmin();
  await admin.import("date,pixel_id,email\n2026-01-31,px,dana@example.com\n");
  writeFileSync(join(folder, "list.txt"), "dana@example.com\n");
  writeFileSync(join(folder, "visits.csv"), "email\nlee@example.com\n");
  const typed = async (...args: string[]) => {
    const command = [process.execPath, "run", "admin", ...args];
    const settings = { DATABASE_PATH: admin.file, HOME: admin.folder };
    const { status, stdout, stderr } = await start(settings, folder, command).finished();
    return [status, stderr + stdout];
  };
  const trial = await typed("lead", "import", "acme", "visits.csv", "--pixel", "px", "--dry-run");
  expect(trial).toEqual([0, expect.stringContaining(`Reading ${join(folder, "visits.csv")} as CSV.`)]);
  expect(await typed("backup", "copy.db")).toEqual([0, expect.stringContaining(join(folder, "copy.db"))]);
  expect(await typed("lead", "find", "acme", "--list", "list.txt")).toEqual([0, expect.stringContaining("dana")]);
  expect(await typed("restore", "copy.db", "--yes")).toEqual([0, expect.stringContaining("now has 1 lead")]);
  expect(readdirSync(folder).toSorted()).toEqual(["copy.db", "copy.db.manifest.json", "list.txt", "visits.csv"]);
});
