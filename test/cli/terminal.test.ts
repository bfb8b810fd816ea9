/** bun admin where a person sits: what fits, what has a colour, what is asked, and what Ctrl-C does. */
import { describe, expect, test } from "bun:test";
import { anAdmin } from "../support/admin.ts";
import { openAdminStore } from "../support/admin-store.ts";
import { onTerminal, plain } from "../support/terminal.ts";

const awkward = [
  "Müller & Söhne 株式会社リード管理部門 東京都千代田区丸の内",
  "👩‍💻 flags 🇩🇪 and a long name that goes on and on and on",
  "a\u00adb",
];

/** An account list as a terminal shows it. */
async function listed(columns: number, settings: Record<string, string> = {}) {
  const admin = anAdmin(["acme", ...awkward]);
  const terminal = onTerminal(admin.file, ["account", "list"], { columns, settings });
  expect(await terminal.ended).toBe(0);
  return { shown: terminal.shown(), lines: plain(terminal.shown()).trimEnd().split("\n") };
}

describe("a table", () => {
  test.each([200, 80, 60, 40])("fits %i columns, wide characters included", async (columns) => {
    const { lines } = await listed(columns);
    expect(lines.filter((line) => Bun.stringWidth(line) > columns && columns >= 60)).toEqual([]);
    expect(lines.join("\n")).toContain("acme");
    expect(lines.join("\n")).toContain("Müller");
  });

  test("is whole at 200 columns, cut at 60, and lines of title and value at 40", async () => {
    const [wide, narrow, small] = [await listed(200), await listed(60), await listed(40)];
    expect(wide.lines.join("\n")).toContain("丸の内");
    expect(narrow.lines.filter((line) => line.endsWith("…")).length).toBeGreaterThan(0);
    expect(small.lines.slice(0, 5)).toEqual([
      expect.stringMatching(/^ID {12}acc_\w+$/),
      "SUBSCRIPTION  active",
      "KEEPS         all",
      "NAME          acme",
      "",
    ]);
  });

  test("of keys has a line for each at 80 columns, without what is wanted least, and all at 200", async () => {
    const admin = anAdmin();
    await admin.run("key", "create", "acme", "--label", "the dashboard of the sales team");
    const shownAt = async (columns: number) => {
      const terminal = onTerminal(admin.file, ["key", "list", "acme"], { columns });
      expect(await terminal.ended).toBe(0);
      return plain(terminal.shown()).trimEnd().split("\n");
    };
    expect(await shownAt(80)).toEqual([
      expect.stringMatching(/^ID +KEY +STATE +EXPIRES +LAST USED +LABEL$/),
      expect.stringMatching(/^key_\w+ {2}lf_\w+ {2}active {2}never +never +the dashboard .*…$/),
    ]);
    const header = /^ID +KEY +STATE +CREATED +EXPIRES +LAST USED +READ UP TO +REQUESTS +LABEL$/;
    expect((await shownAt(40)).map((line) => line.slice(0, 12).trimEnd()).join(" ")).toMatch(header);
    expect(await shownAt(200)).toEqual([
      expect.stringMatching(header),
      expect.stringMatching(/^key_.*the dashboard of the sales team$/),
    ]);
  });

  test("is never cut where no terminal reads it", async () => {
    const admin = anAdmin(awkward.slice(0, 2));
    const { stdout } = await admin.run("account", "list");
    expect(stdout).toContain("丸の内");
    expect(stdout).toContain("on and on and on\n");
  });

  test("shows control characters in a name as text", async () => {
    const admin = anAdmin([]);
    const store = openAdminStore(admin.file);
    const evil = "x\u001b[2J\u001b]0;owned\u0007\u202ereversed\r\n";
    const account = store.accounts.create(evil, 0);
    store.pixels.create(account?.number ?? 0, { id: "px\u001b[31m", status: evil }, 0);
    store.close();
    const terminal = onTerminal(admin.file, ["pixel", "list", account?.id ?? ""]);
    await terminal.ended;
    const accounts = await admin.run("account", "list");
    const shown = [plain(terminal.shown()), accounts.stdout].join("\n");
    expect(shown).toContain("px?[31m");
    expect(shown).not.toMatch(/[^\P{C}\n]/u);
  });
});

describe("colours", () => {
  const isColoured = (text: string) => text !== Bun.stripANSI(text);

  test("are there on a terminal", async () => {
    expect(isColoured((await listed(80)).shown)).toBe(true);
    const help = onTerminal(anAdmin().file, ["--help"]);
    await help.ended;
    expect(isColoured(help.shown())).toBe(true);
  });

  test.each(["1", "0", "anything"])("are not with NO_COLOR=%s", async (NO_COLOR) => {
    expect(isColoured((await listed(80, { NO_COLOR })).shown)).toBe(false);
    const help = onTerminal(anAdmin().file, ["--help"], { settings: { NO_COLOR } });
    await help.ended;
    expect(isColoured(help.shown())).toBe(false);
  });

  test("are not where no terminal reads it, whatever FORCE_COLOR says", async () => {
    const admin = anAdmin(["acme"], { FORCE_COLOR: "1" });
    for (const args of [["account", "list"], ["--help"]]) {
      expect(isColoured((await admin.run(...args)).stdout)).toBe(false);
    }
  });
});

describe("key revoke", () => {
  async function aKey() {
    const admin = anAdmin();
    const { id } = (await admin.run("key", "create", "acme", "--label", "crm sync", "--json")).json;
    const state = async () => /\b(active|revoked)\b/.exec((await admin.run("key", "list", "acme")).stdout)?.[0];
    return { admin, id, state };
  }

  test.each<[string, string, number]>([
    ["y\n", "revoked", 0],
    ["YES\n", "revoked", 0],
    ["\n", "active", 1],
    ["n\n", "active", 1],
    ["yesterday\n", "active", 1],
    ["\u0004", "active", 1],
  ])("asks on a terminal, and after %j the key is %s", async (answer, after, status) => {
    const { admin, id, state } = await aKey();
    const terminal = onTerminal(admin.file, ["key", "revoke", id]);
    await terminal.seen(/Revoke key_\w+ \("crm sync", account acme, never used\)\? This cannot be undone\. \[y\/N\] /);
    expect(await state()).toBe("active");
    terminal.type(answer);
    expect(await terminal.ended).toBe(status);
    expect(await state()).toBe(after);
  });

  test("ends with 130 at Ctrl-C, and the key is active", async () => {
    const { admin, id, state } = await aKey();
    const terminal = onTerminal(admin.file, ["key", "revoke", id]);
    await terminal.seen(/\[y\/N\] /);
    terminal.type("\u0003");
    expect(await terminal.ended).toBe(130);
    expect(await state()).toBe("active");
  });

  test("does not ask with --yes, nor where there is no terminal", async () => {
    const { admin, id, state } = await aKey();
    const terminal = onTerminal(admin.file, ["key", "revoke", id, "--yes"]);
    expect(await terminal.ended).toBe(0);
    expect([await state(), plain(terminal.shown())]).toEqual(["revoked", expect.not.stringContaining("?")]);
    const other = await aKey();
    expect((await other.admin.run("key", "revoke", other.id)).status).toBe(0);
    expect(await other.state()).toBe("revoked");
  });
});

describe("words of a message", () => {
  const words = ["key", "revoke", "key_that_nobody_has", "--yes"];

  test.each([
    ["the help", ["key", "--help"]],
    ["an error", words],
    ["findings of doctor", ["doctor"]],
  ])("are not broken on a terminal: %s", async (_, args) => {
    const admin = anAdmin();
    const terminal = onTerminal(admin.file, args, { columns: 60 });
    await terminal.ended;
    const lines = plain(terminal.shown()).split("\n");
    // A path has no space to break at.
    expect(lines.filter((line) => line.length > 60 && !line.includes(admin.folder))).toEqual([]);
    expect(lines.length).toBeGreaterThan(2);
  });

  test("and a command to copy stay together on a terminal", async () => {
    const terminal = onTerminal(anAdmin().file, words, { columns: 60 });
    await terminal.ended;
    expect(plain(terminal.shown())).toMatch(
      /^There is no key "key_that_nobody_has"\. To list the IDs, run:\nbun admin key list ACCOUNT\n$/,
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
  const terminal = onTerminal(admin.file, ["doctor"]);
  expect(await terminal.ended).toBe(1);
  expect(terminal.shown()).toContain("\u001b[33mwarning\u001b[39m  backups");
});

test("a person who asks by standard input is told what to type", async () => {
  const terminal = onTerminal(anAdmin().file, ["lead", "find", "acme", "--email", "-"]);
  await terminal.seen(/Waiting for an email address, .* Ctrl-D\./);
  terminal.type("\u0003");
  expect(await terminal.ended).toBe(130);
});

test("key check says on a terminal what it waits for", async () => {
  const admin = anAdmin();
  const { key } = (await admin.run("key", "create", "acme", "--json")).json;
  const terminal = onTerminal(admin.file, ["key", "check"]);
  await terminal.seen(/Waiting for the key: .* Ctrl-D\./);
  terminal.type(`${key}\n\u0004`);
  expect(await terminal.ended).toBe(0);
  expect(plain(terminal.shown())).toContain("active");
});

test("Ctrl-C ends an import with 130, the cursor is visible, and the same import completes it", async () => {
  const admin = anAdmin();
  const rows = Array.from({ length: 60_000 }, (_, n) => `d${n}@example.com,2026-01-31,px\n`);
  const file = admin.put("export.csv", `email,date,pixel_id\n${rows.join("")}`);
  const terminal = onTerminal(admin.file, ["lead", "import", "acme", file, "--create-pixels"]);
  await terminal.seen(/% {2}\d+ s left {2}[\d,]+ rows {2}/);
  terminal.type("\u0003");
  expect(await terminal.ended).toBe(130);
  expect(terminal.shown()).not.toContain("\u001b[?25l");
  const before = (await admin.leads()).length;
  const again = await admin.run("lead", "import", "acme", file, "--create-pixels", "--json");
  expect({ status: again.status, ...again.json }).toMatchObject({ imported: 60_000 - before, duplicates: before });
});

test.each(["acme ", "Acme", "acm", "acmee"])("an account that is called %j by mistake is suggested", async (name) => {
  const { stderr, status } = await anAdmin(["acme", "Harbor"]).run(
    "key",
    "list",
    name.trim() === "acme" ? "acmé" : name,
  );
  expect([status, stderr]).toEqual([1, expect.stringContaining('Did you mean "acme"?')]);
});
