/** At a terminal, an import asks about a file that looks wrong. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { fillInbox } from "../extensions/delivery/inbox/an-inbox.ts";
import { type Admin, anAdmin } from "../support/admin.ts";
import { onTerminal, plain, type Terminal } from "../support/terminal.ts";

const good = "date,pixel_id,email,id\n2026-01-31,px,dana@example.com,v1\n";
const rejected = `${good}${"yesterday,px,dana@example.com,v2\n".repeat(10)}`;
const sharing = `${good}2026-01-30,px,dana@example.com,v1\n`;

/** Imports a file on a terminal. */
function importing(admin: Admin, content: string, ...options: readonly string[]): Terminal {
  const file = admin.put("export.csv", content);
  return onTerminal(admin.file, ["lead", "import", "acme", file, "--create-pixels", ...options]);
}

/** Answers the question of an import, and returns the exit status. */
async function answer(terminal: Terminal, keys: string): Promise<number> {
  await terminal.seen(/Import the file as shown\? \[y\/N\]/);
  terminal.type(keys);
  return terminal.ended;
}

const table = "date,pixel_id,company,page\n2026-01-31,px,Harbor,https://shop.example.com/\n";
test.each<[string, readonly [string, ...string[]], string, number]>([
  ["most rows of which are rejected for a reason", [rejected], "Line 3 was rejected: .* 10 rows are rejected", 3],
  ["in which an id names the person", [sharing], "2 rows have the ID of another row", 0],
  [
    "without a column that identifies visitors",
    ["pixel_id,date,URL\npx,2026-01-31,https://shop.example.com/\n"],
    "no column has a name, an email address, a phone, or a company",
    0,
  ],
])("a file %s is shown, and imported when the answer is y", async (_, given, doubt, status) => {
  const admin = anAdmin();
  const terminal = importing(admin, ...given);
  expect(await answer(terminal, "y\r")).toBe(status);
  const [before] = plain(terminal.shown()).replaceAll(/\s+/g, " ").split("[y/N]");
  expect(before).toMatch(RegExp(doubt));
  expect(await admin.leads()).not.toEqual([]);
});

test("a file whose first line is the header is not doubted for it", async () => {
  expect((await anAdmin().import(table, "--dry-run")).stderr).not.toContain("Warning");
});

test("nothing is imported and no rejects file is written before the answer, and Enter alone is a no", async () => {
  for (const [keys, status] of [
    ["\r", 1],
    ["\u0003", 130],
    ["y\r", 3],
  ] as const) {
    const admin = anAdmin();
    const rejects = admin.put("rejects.csv", "from before\n");
    const terminal = importing(admin, rejected, "--rejects", rejects);
    await terminal.seen(/\[y\/N\]/);
    expect([readFileSync(rejects, "utf8"), await admin.leads()]).toEqual(["from before\n", []]);
    expect(await answer(terminal, keys)).toBe(status);
    expect(await admin.leads()).toHaveLength(status === 3 ? 1 : 0);
    expect(plain(terminal.shown()).includes("Nothing was changed. Change the options")).toBe(status === 1);
    expect(readFileSync(rejects, "utf8")).toBe("from before\n");
    expect(existsSync(rejects.replace(".csv", "-2.csv"))).toBe(status === 3);
  }
});

test("asks nothing for a dry run, a known layout, or a file without new leads", async () => {
  const nothing = rejected.replace(good, "date,pixel_id,email,id\n");
  const mostlyGood = rejected + "2026-01-31,px,dana@example.com,\n".repeat(10);
  for (const [content, ...options] of [[rejected, "--dry-run"], [good], [nothing], [mostlyGood]] as const) {
    const admin = anAdmin();
    await admin.import("date,pixel_id,email,id\n2020-01-01,px,lee@example.com,v0\n");
    const terminal = importing(admin, content, ...options);
    expect([0, 3]).toContain(await terminal.ended);
    expect(terminal.shown()).not.toContain("[y/N]");
  }
  const other = anAdmin();
  expect([(await other.import(rejected)).status, (await other.leads()).length]).toEqual([3, 1]);
});

test("an inbox asks nothing, even at a terminal: a file that looks wrong must not hold up the others", async () => {
  const admin = anAdmin();
  const inbox = fillInbox(admin, { "acme/import.json": '{"create-pixels":true}', "acme/export.csv": sharing });
  const terminal = onTerminal(admin.file, ["inbox", inbox, "--once"]);
  const asked = terminal.seen(/\[y\/N\]/).then(() => "asked");
  expect(await Promise.race([terminal.ended, asked])).toBe(0);
  expect(await admin.leads()).toHaveLength(1);
});

test("asks about the first import of each set of columns, and shows the leads as served", async () => {
  const admin = anAdmin();
  const first = importing(admin, good);
  expect([await answer(first, "y\r"), (await admin.leads()).length]).toEqual([0, 1]);
  expect(plain(first.shown())).toMatch(/ {2}identified_at {3}2026-01-31T00:00:00\.000Z +date\r?\n/);
  const known = importing(admin, "email,id,date,pixel_id\nlee@example.com,v2,2026-01-31,px\n");
  expect([await known.ended, known.shown().includes("[y/N]")]).toEqual([0, false]);
  const other = importing(admin, "email,id,date,pixel_id,plan\nsam@example.com,v3,2026-01-31,px,x\n");
  expect([await answer(other, "n\r"), (await admin.leads()).length]).toEqual([1, 2]);
});

const ofAnotherSite = "date,pixel_id,email\n2026-01-31,px_b,lee@example.com\n";

test("asks about a file with only unknown pixels, because it may belong to another account", async () => {
  const admin = anAdmin();
  const said = async (content: string) => (await admin.import(content, "--dry-run")).stderr;
  expect(await said(good)).toContain("Pixel: px (new).");
  expect(await said(good)).not.toContain("Warning");
  await admin.import(good);
  expect(await said(`${ofAnotherSite}2026-01-30,px,dana@example.com\n`)).toContain("Pixels: px_b (new), px.");
  expect(await said(ofAnotherSite)).toContain("Check that the file belongs to this account");
  expect([await answer(importing(admin, ofAnotherSite), "n\r"), (await admin.leads()).length]).toEqual([1, 1]);
});

/** Answers a question of an import whose text is given. */
async function answerTo(terminal: Terminal, question: RegExp, keys: string): Promise<string> {
  await terminal.seen(question);
  const before = plain(terminal.shown());
  terminal.type(`${keys}\r`);
  return before;
}

test("asks which column is the time of the visit, with a value of each, before it reads the rest of the file", async () => {
  const admin = anAdmin();
  const rows = "d@example.com,px,2026-01-31 09:15,2026-02-01\n".repeat(3);
  const terminal = importing(admin, `email,pixel_id,Besucht am,Updated\n${rows}`);
  const shown = await answerTo(terminal, /Number \(0-2\):/, "1");
  expect(shown).toMatch(/Which column is the time of the visit\?\r?\n {2}1 {2}Besucht am {2}2026-01-31 09:15/);
  expect(shown).toMatch(/ {2}2 {2}Updated {5}2026-02-01\r?\n {2}0 {2}none: leads get the time of import/);
  expect(shown).not.toContain("rows:");
  expect(await answer(terminal, "y\r")).toBe(0);
  expect(await admin.leads()).toMatchObject([{ identified_at: "2026-01-31T09:15:00.000Z" }]);
});

test("asks for the order of dates, the pixel, and the visitor", async () => {
  const admin = anAdmin();
  const record = {
    date: "05/04/2026",
    match: { individual: { email: "d@example.com" } },
    rep: { name: "Kim" },
    url: "/a",
  };
  const terminal = importing(admin, `${JSON.stringify(record)}\n`);
  const shown = await answerTo(terminal, /Which object is the visitor\?[\s\S]*Number \(0-1\):/, "1");
  expect(shown).toContain("--map match.individual=person");
  expect(shown).toContain("rep is not offered: it is a representative.");
  expect(await answerTo(terminal, /Which date[\s\S]*Number \(1-2\):/, "1")).toMatch(/1 {2}day first: {4}April 5, 2026/);
  await answerTo(terminal, /ID of the pixel/, "px_new");
  expect(await answer(terminal, "y\r")).toBe(0);
  const lead = { email: "d@example.com", pixel_id: "px_new", identified_at: "2026-04-05T00:00:00.000Z" };
  expect(await admin.leads()).toMatchObject([lead]);
});

test("offers nothing that the profile of a vendor leaves out as the visitor", async () => {
  const context = { library: { name: "analytics.js", email: "team@example.com" }, page: { url: "/a" } };
  const record = { type: "page", messageId: "m", anonymousId: "a", sentAt: "2026-01-31T09:15:00Z", context };
  const told = async (...options: string[]) =>
    (await anAdmin().import(JSON.stringify(record), "--pixel", "px", "--create-pixels", ...options)).stderr;
  expect(await told("--dry-run", "--stamp", "arrival")).not.toContain("=person");
  expect(await told("--dry-run", "--stamp", "arrival", "--vendor", "none")).toContain("=person");
});

test("offers no object that has only a name as the visitor", async () => {
  const record = { campaign: { name: "Summer" }, page_url: "/a", date: "2026-01-31" };
  const { stderr } = await anAdmin().import(JSON.stringify(record), "--pixel", "px", "--dry-run");
  expect(stderr).not.toContain("=person");
});

test("--yes asks nothing", async () => {
  const admin = anAdmin();
  expect([await importing(admin, good, "--yes").ended, (await admin.leads()).length]).toEqual([0, 1]);
});

test("standard input cannot be read twice: the command to run is printed", async () => {
  const { status, stderr } = await anAdmin().import("email,pixel_id,Zeitpunkt\nd@example.com,px,2026-01-31 09:15\n");
  expect(status).toBe(1);
  expect(stderr.replaceAll(/\s+/g, " ")).toContain("lead import acme - --map Zeitpunkt=identified_at");
});
