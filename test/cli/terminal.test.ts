/** bun admin on a terminal: width, colors, questions, and Ctrl-C. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { wrapAt } from "../../src/runtime/process.ts";
import { anAdmin } from "../support/admin.ts";
import { anAccount, openTestDatabase } from "../support/database.ts";
import { onTerminal, plain } from "../support/terminal.ts";

const awkward = [
  "Müller & Söhne 株式会社リード管理部門 東京都千代田区丸の内",
  "👩‍💻 flags 🇩🇪 and a long name that goes on and on and on",
  "a\u00adb",
];

/** What a terminal shows of a command to its end. */
async function shownBy(file: string, words: string[], columns = 80, settings: Record<string, string> = {}) {
  const terminal = onTerminal(file, words, { columns, settings });
  const status = await terminal.ended;
  const shown = terminal.shown();
  return { status, shown, plain: plain(shown), lines: plain(shown).trimEnd().split("\n") };
}

describe("a table", () => {
  test("is complete at 200 columns, cut at 60, and lines of title and value at 40", async () => {
    const { file } = anAdmin(["acme", ...awkward]);
    const shown = new Map<number, string[]>();
    for (const columns of [200, 80, 60, 40])
      shown.set(columns, (await shownBy(file, ["account", "list"], columns)).lines);
    for (const columns of [200, 80, 60]) {
      const lines = shown.get(columns) ?? [];
      expect(lines.filter((line) => Bun.stringWidth(line) > columns)).toEqual([]);
      expect(lines.join("\n")).toMatch(/acme.*Müller/s);
    }
    expect(shown.get(200)?.join("\n")).toContain("丸の内");
    expect(shown.get(60)?.filter((line) => line.endsWith("…")).length).toBeGreaterThan(0);
    expect(shown.get(40)?.slice(0, 5)).toEqual([
      expect.stringMatching(/^ID {12}acc_\w+$/),
      "SUBSCRIPTION  active",
      "KEEPS         all",
      "NAME          acme",
      "",
    ]);
  });

  test("of keys leaves out lesser columns at 80 columns, and none at 40 and 200", async () => {
    const admin = anAdmin();
    await admin.run("key", "create", "acme", "--label", "the dashboard of the sales team");
    const shownAt = async (columns: number) => (await shownBy(admin.file, ["key", "list", "acme"], columns)).lines;
    expect(await shownAt(80)).toEqual([
      expect.stringMatching(/^ID +KEY +STATE +EXPIRES +LAST USED +LABEL$/),
      expect.stringMatching(/^key_\w+ {2}lf_\w+ {2}active {2}never +never +the dashboard .*…$/),
    ]);
    const header = /^ID +KEY +STATE +CREATED +EXPIRES +LAST USED +READ UP TO +REQUESTS +LABEL$/;
    expect((await shownAt(40)).map((line) => line.slice(0, 12).trimEnd()).join(" ")).toMatch(header);
    const row = expect.stringMatching(/^key_.*the dashboard of the sales team$/);
    expect(await shownAt(200)).toEqual([expect.stringMatching(header), row]);
  });

  test("is never cut for a program", async () => {
    const admin = anAdmin(awkward.slice(0, 2));
    const { stdout } = await admin.run("account", "list");
    expect(stdout).toContain("丸の内");
    expect(stdout).toContain("on and on and on\n");
  });

  test("shows control characters in a name as text", async () => {
    const admin = anAdmin([]);
    const database = openTestDatabase(admin.file);
    const evil = "x\u001b[2J\u001b]0;owned\u0007\u202ereversed\r\n";
    const { id } = anAccount(database, { name: evil, pixels: [{ id: "px\u001b[31m", status: evil }] });
    database.close();
    const pixels = await shownBy(admin.file, ["pixel", "list", id]);
    const accounts = await admin.run("account", "list");
    const shown = [pixels.plain, accounts.stdout].join("\n");
    expect(shown).toContain("px?[31m");
    expect(shown).not.toMatch(/[^\P{C}\n]/u);
  });
});

const isColored = (text: string) => text !== Bun.stripANSI(text);

test.each<[settings: Record<string, string>, expected: boolean]>([
  [{}, true],
  [{ NO_COLOR: "1" }, false],
  [{ NO_COLOR: "0" }, false],
  [{ TERM: "dumb" }, false],
])("colors with %j on a terminal: %p", async (settings, expected) => {
  const { file } = anAdmin();
  for (const words of [["account", "list"], ["--help"]])
    expect(isColored((await shownBy(file, words, 80, settings)).shown)).toBe(expected);
});

test("a program gets no colors, even with FORCE_COLOR", async () => {
  const admin = anAdmin(["acme"], { FORCE_COLOR: "1" });
  for (const args of [["account", "list"], ["--help"]])
    expect(isColored((await admin.run(...args)).stdout)).toBe(false);
});

test("a dumb terminal gets progress as lines", async () => {
  const admin = anAdmin();
  const file = admin.put("export.csv", `email,pixel_id\n${"a@example.com,px\n".repeat(8_000)}`);
  const args = ["lead", "import", "acme", file, "--create-pixels"];
  const terminal = onTerminal(admin.file, [...args, "--stamp", "arrival"], { settings: { TERM: "dumb" } });
  await terminal.seen(/\[y\/N\]/);
  terminal.type("y\n");
  expect(await terminal.ended).toBe(0);
  expect(terminal.shown()).not.toContain("\u001b");
});

describe("key revoke", () => {
  async function aKey() {
    const admin = anAdmin();
    const { id } = (await admin.run("key", "create", "acme", "--label", "crm sync", "--json")).json;
    const state = async () => /\b(active|revoked)\b/.exec((await admin.run("key", "list", "acme")).stdout)?.[0];
    return { admin, id, state };
  }

  test.each<[answer: string, after: string, status: number]>([
    ["y\n", "revoked", 0],
    ["\n", "active", 1],
    ["yesterday\n", "active", 1],
    ["\u0004", "active", 1],
    ["\u0003", "active", 130],
  ])("asks on a terminal, and after %j the key is %s", async (answer, after, status) => {
    const { admin, id, state } = await aKey();
    const terminal = onTerminal(admin.file, ["key", "revoke", id]);
    await terminal.seen(/Revoke key_\w+ \("crm sync", account acme, never used\)\? This cannot be undone\. \[y\/N\] /);
    expect(await state()).toBe("active");
    terminal.type(answer);
    expect([await terminal.ended, await state()]).toEqual([status, after]);
  });

  test("does not ask with --yes, nor without a terminal", async () => {
    const { admin, id, state } = await aKey();
    const { status, plain } = await shownBy(admin.file, ["key", "revoke", id, "--yes"]);
    expect([status, plain.includes("?"), await state()]).toEqual([0, false, "revoked"]);
    const other = await aKey();
    expect((await other.admin.run("key", "revoke", other.id)).status).toBe(0);
    expect(await other.state()).toBe("revoked");
  });
});

describe("words of a message", () => {
  const words = ["key", "revoke", "key_that_nobody_has", "--yes"];

  test.each([
    ["the help", ["key", "--help"], /^Usage: /],
    ["findings of doctor", ["doctor"], /^fine /],
    [
      "an error, whose command to copy stays together",
      words,
      /^There is no key "key_that_nobody_has"\. To list the IDs, run:\nbun admin key list ACCOUNT\n$/,
    ],
  ])("are not broken on a terminal: %s", async (_, args, says) => {
    const admin = anAdmin();
    const { lines, plain } = await shownBy(admin.file, args, 60);
    expect(plain).toMatch(says);
    // A path has no space to break at.
    expect(lines.filter((line) => line.length > 60 && !line.includes(admin.folder))).toEqual([]);
  });

  test("stay in their order, in lines that fit, and with commands and options in one piece", () => {
    const command = "bun admin key list ACCOUNT --json.";
    const words = fc.array(fc.constantFrom("a", "word", "--days 90", "(2026-01-31)", command, "株式会社"));
    fc.assert(
      fc.property(words, fc.integer({ min: 36, max: 100 }), (words, width) => {
        const text = words.join(" ");
        const lines = wrapAt(width, text).split("\n");
        expect(lines.join(" ")).toBe(text);
        expect(lines.filter((line) => Bun.stringWidth(line) > width)).toEqual([]);
        const count = (part: string) => lines.reduce((sum, line) => sum + line.split(part).length - 1, 0);
        for (const part of [command, "--days 90"])
          expect(count(part)).toBe(words.filter((word) => word === part).length);
      }),
    );
  });

  test("are on one line where no terminal reads them", async () => {
    const { stderr } = await anAdmin().run(...words);
    expect(stderr).toMatch(/^There is no key "key_that_nobody_has"\. To list the IDs, .* ACCOUNT\n$/);
  });
});

test("doctor shows a warning in yellow", async () => {
  const admin = anAdmin();
  await admin.import("email,pixel_id\na@example.com,px_shop");
  const { status, shown } = await shownBy(admin.file, ["doctor"]);
  expect([status, shown]).toEqual([1, expect.stringContaining("\u001b[33mwarning\u001b[39m  backups")]);
});

test("key check prompts on a terminal", async () => {
  const admin = anAdmin();
  const { key } = (await admin.run("key", "create", "acme", "--json")).json;
  const terminal = onTerminal(admin.file, ["key", "check"]);
  await terminal.seen(/Waiting for the key: .* Ctrl-D\./);
  terminal.type(`${key}\n\u0004`);
  expect(await terminal.ended).toBe(0);
  expect(plain(terminal.shown())).toContain("active");
});

test.each(["acmé", "Acme", "acm", "acmee"])("a similar account is suggested in place of %j", async (name) => {
  const { stderr, status } = await anAdmin(["acme", "Harbor"]).run("key", "list", name);
  expect([status, stderr]).toEqual([1, expect.stringContaining('Did you mean "acme"?')]);
});
