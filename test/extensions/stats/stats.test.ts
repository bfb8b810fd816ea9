/** bun admin stats: leads per day, by pixel, state, and source, and requests per key and day, in the terminal and as a page. */
import { Database } from "bun:sqlite";
import { describe, expect, onTestFinished, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { dayMs, dayOf } from "../../../src/contract/calendar.ts";
import { formatTime } from "../../../src/contract/time.ts";
import { type Admin, anAdmin } from "../../support/admin.ts";
import { start } from "../../support/process.ts";
import { onTerminal, plain } from "../../support/terminal.ts";

const nowMs = Date.parse("2026-05-20T09:15:00Z");
const today = dayOf(nowMs);
const daysAgo = (days: number) => formatTime(nowMs - days * dayMs);
const dayAgo = (days: number) => daysAgo(days).slice(0, 10);
const aLead = `a@example.com,${daysAgo(0)},px,CA,mail`;

const widest = (text: string) => Math.max(...text.split("\n").map((line) => Bun.stringWidth(line)));

async function withLeads(...rows: readonly string[]): Promise<Admin> {
  const admin = anAdmin(["acme"], {}, nowMs);
  if (rows.length > 0) await admin.import(["email,identified_at,pixel_id,state,traffic_source", ...rows].join("\n"));
  return admin;
}

/** What `stats acme` prints of leads. */
const printedFor = async (rows: readonly string[], ...options: string[]) =>
  (await (await withLeads(...rows)).run("stats", "acme", ...options)).stdout;

const titles = ["Leads per day", "Leads by pixel", "Leads by state", "Leads by source"];
const none = { leads: { all: 0, in_period: 0 }, by_pixel: [], by_state: [], by_source: [], requests: [] };

test("without a database, stats creates none, and says how to", async () => {
  const admin = anAdmin([]);
  const { status, stderr } = await admin.run("stats", "acme");
  expect([status, stderr]).toEqual([
    1,
    expect.stringMatching(/^There is no database at .* bun admin account create NAME/),
  ]);
  expect(existsSync(admin.file)).toBe(false);
});

test("an account without leads has one line, and empty lists", async () => {
  const admin = await withLeads();
  expect((await admin.run("stats", "acme")).stdout).toBe("acme has no leads yet.\n");
  const { json } = await admin.run("stats", "acme", "--days", "2", "--json");
  expect(json).toMatchObject({ ...none, by_day: [{ leads: 0 }, { day: today, leads: 0 }] });
});

test.each([
  [59, "; try --days 60"],
  [80, "; try --days 90"],
  [4_000, ""],
])("a period that begins after the newest lead, which is %d days old, names its day", async (days, advice) => {
  const stdout = await printedFor([`a@example.com,${daysAgo(days)},px_a,CA,google`]);
  const newest = `The newest lead is from ${dayAgo(days)}${advice}.`;
  expect(stdout).toBe(`acme: 0 of 1 leads are from 2026-04-21 to 2026-05-20 (UTC). ${newest}\n`);
});

test("--json has every day of the period, and the largest counts first", async () => {
  const admin = await withLeads(
    `a@example.com,${daysAgo(2)},px_a,CA,google`,
    `b@example.com,${daysAgo(2)},px_b,CA,google`,
    `c@example.com,${daysAgo(0)},px_b,,google`,
    `d@example.com,${daysAgo(40)},px_b,TX,mail`,
  );
  const { json, stderr, status } = await admin.run("stats", "acme", "--days", "3", "--json");
  expect(json).toMatchObject({
    from: dayAgo(2),
    to: today,
    leads: { all: 4, in_period: 3 },
    by_day: [{ day: dayAgo(2), leads: 2 }, { leads: 0 }, { day: today, leads: 1 }],
    by_pixel: [
      { pixel_id: "px_b", leads: 2 },
      { pixel_id: "px_a", leads: 1 },
    ],
    by_state: [
      { state: "CA", leads: 2 },
      { state: null, leads: 1 },
    ],
    by_source: [{ traffic_source: "google", leads: 3 }],
  });
  expect([stderr, status]).toEqual(["", 0]);
});

test("one lead makes charts of one full bar, in 80 columns and without color", async () => {
  const stdout = await printedFor([aLead.replace("px", `px_${"long".repeat(40)}`)]);
  for (const title of titles) expect(stdout).toContain(title);
  expect(stdout).toMatch(new RegExp(`^${today}  1  █+$`, "m"));
  expect(widest(stdout)).toBe(80);
  expect(stdout).not.toContain("\u001b");
});

test("a narrow terminal gets shorter bars and labels", async () => {
  const admin = await withLeads(aLead, `b@example.com,${daysAgo(0)},px,TX,${"long".repeat(9)}`);
  const terminal = onTerminal(admin.file, ["stats", "acme", "--days", "3660"], { columns: 40 });
  expect(await terminal.ended).toBe(0);
  const shown = plain(terminal.shown());
  expect(shown).toMatch(/^CA {2}1 {2}█{33}$/m);
  expect(shown).toMatch(/^longlonglon… {2}1 {2}█{23}$/m);
  expect(shown).not.toMatch(/^█{41}/m);
});

test("control characters and wide letters do not move columns", async () => {
  const stdout = await printedFor([
    aLead.replace("mail", "検索".repeat(20)),
    `b@example.com,,px,CA,"\u001b[31mred\u009b"`,
  ]);
  for (const control of ["\u001b", "\u009b"]) expect(stdout).not.toContain(control);
  expect(widest(stdout)).toBeLessThanOrEqual(80);
});

test("a long period is shown by month, and many states as the largest and their number", async () => {
  const states = "AL AK AZ AR CA CO CT DE FL GA HI ID".split(" ");
  const leads = states.map((state, n) => `v${n}@example.com,${daysAgo(0)},px,${state},mail`);
  const stdout = await printedFor(leads, "--days", "400");
  expect(stdout).toContain("Leads per month");
  expect(stdout).toMatch(new RegExp(`^${today.slice(0, 7)}  12  █`, "m"));
  expect(stdout).toContain("Leads by state (the 10 largest of 12)\nAK  1  █");
  expect(stdout).toMatch(/^FL +1 +█{60}/m);
  expect(stdout).not.toMatch(/^(?:HI|ID) /m);
});

test("days before the first lead take no lines, and later ones do", async () => {
  const stdout = await printedFor([`b@example.com,${daysAgo(2)},px,CA,mail`, aLead]);
  const [days = ""] = stdout.split("Leads per day\n")[1]?.split("\n\n") ?? [];
  expect(days.split("\n").map((line) => line.split(" ", 1)[0])).toEqual([dayAgo(2), dayAgo(1), today]);
});

test("requests are shown per key and day with the label of the key, and those of other accounts are not", async () => {
  const admin = await withLeads(aLead);
  const { id } = (await admin.run("key", "create", "acme", "--label", "crm", "--json")).json;
  using database = new Database(admin.file);
  database.run(`INSERT INTO usage (key, day, requests) VALUES (1, '${today}', 1234), (1, '2020-01-01', 9)`);
  const { stdout } = await admin.run("stats", "acme");
  expect(stdout).toContain(`Requests of ${id} (crm) per day`);
  expect(stdout).toMatch(new RegExp(`^${today}  1,234  █`, "m"));
  expect((await admin.run("stats", "acme", "--json")).json["requests"]).toEqual([
    { key: id, prefix: expect.stringMatching(/^lf_/), label: "crm", day: today, requests: 1234 },
  ]);
  await admin.run("account", "create", "other");
  expect((await admin.run("stats", "other", "--json")).json).toMatchObject(none);
});

test("the imports leave out an undone one", async () => {
  const admin = await withLeads(aLead);
  await admin.import(`email,pixel_id\nb@example.com,px\n`);
  await admin.run("import", "undo", "acme", "2");
  const { json } = await admin.run("stats", "acme", "--json");
  expect(json).toMatchObject({ leads: { all: 1 }, imports: [{ import: 1 }] });
});

test.each(["0", "-1", "3661", "1e1", "ten", ""])("--days %j is a usage error", async (days) => {
  const { status, stderr, stdout } = await anAdmin().run("stats", "acme", `--days=${days}`);
  expect([status, stdout, stderr]).toEqual([2, "", expect.stringMatching(/^[^\n]*--days[^\n]*\n$/)]);
});

describe("the page of --html", () => {
  async function pageOf(admin: Admin): Promise<string> {
    const file = join(admin.folder, "stats.html");
    expect(await admin.run("stats", "acme", "--html", file)).toMatchObject({ status: 0, stderr: "" });
    return readFileSync(file, "utf8");
  }

  test("has a table with bars of leads by day, pixel, state, and source, and loads nothing", async () => {
    const page = await pageOf(await withLeads(`a@example.com,${daysAgo(1)},px_<shop>,CA,news & more`));
    for (const title of [...titles, "Imports"]) expect(page).toContain(`<figcaption><h2>${title}</h2></figcaption>`);
    expect(page).toContain(`<tr style="--bar:100%"><td>${dayAgo(1)}</td><td>1</td></tr>`);
    expect(page).toContain(`<tr style="--bar:0%"><td>${today}</td><td>0</td></tr>`);
    expect(page.match(/<table>/g)).toHaveLength(5);
    expect(page).toContain("<td>px_&lt;shop&gt;</td><td>1</td>");
    expect(page).toContain("<td>news &amp; more</td><td>1</td>");
    expect(page).toContain("default-src 'none'");
    expect(page).not.toMatch(/\b(?:src|href)=|url\(|@import|<script/);
  });

  test("is written into the subfolder of the clone in which the command was typed", async () => {
    const folder = mkdtempSync(join(import.meta.dir, "typed-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const settings = { DATABASE_PATH: anAdmin().file, HOME: folder };
    const command = [process.execPath, "run", "admin", "stats", "acme", "--html", "page.html"];
    expect(await start(settings, folder, command).finished()).toMatchObject({ status: 0 });
    expect(readdirSync(folder)).toContain("page.html");
  });

  test("has no control character of a source", async () => {
    const page = await pageOf(await withLeads(`a@example.com,${daysAgo(1)},px,CA,ne\u001b[31mws\u0007\u202e`));
    expect(page).toContain("<td>ne?[31mws");
    expect(page).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  });

  test("replaces an older one, is printed as JSON with --json, and of an account without leads has no table", async () => {
    const admin = await withLeads();
    const file = admin.put("stats.html", "old");
    const { json } = await admin.run("stats", "acme", "--html", file, "--json");
    expect(json).toMatchObject({ leads: { all: 0 }, imports: [] });
    const page = readFileSync(file, "utf8");
    expect(page).toStartWith("<!doctype html>");
    expect(page.match(/There is nothing in this period\./g)).toHaveLength(6);
    expect(page).not.toContain("<table>");
  });

  test("has nothing of a person, even if a source has", async () => {
    const spring = "https://mail.example.com/spring";
    const sources = [`${spring}?to=dana@example.com`, spring, "for Dana@example.com"];
    const admin = await withLeads(...sources.map((source) => aLead.replace("mail", source)));
    const person = "Dana Weber,dana@example.com,6195550123,Fallbrook,https://www.example.com/private";
    await admin.import(`name,email,phone,city,page_url,identified_at,pixel_id\n${person},${daysAgo(0)},px\n`);
    const page = await pageOf(admin);
    expect(page).not.toMatch(/dana|6195550123|Fallbrook|private/i);
    expect(page).toContain(`<td>${spring}</td><td>2</td>`);
  });

  test("is not written through a link with the name of its draft", async () => {
    const admin = anAdmin();
    const [precious, file] = [admin.put("precious", "years of work"), join(admin.folder, "stats.html")];
    const program = join(import.meta.dir, "../../../src/admin.ts");
    // The shell keeps its process ID when it becomes the command.
    const line = `ln -s ${precious} ${file}.draft-$$; exec ${process.execPath} ${program} stats acme --html ${file}`;
    const { exitCode } = Bun.spawnSync(["sh", "-c", line], { env: { DATABASE_PATH: admin.file } });
    expect([exitCode, readFileSync(precious, "utf8"), existsSync(file)]).toEqual([1, "years of work", false]);
  });

  test.each([
    ["none/stats.html", 1, "none/stats.html cannot be written (ENOENT)"],
    ["n".repeat(260), 1, "nnn cannot be written (ENAMETOOLONG)"],
    ["leadfile.db", 2, "--html names a file of the database"],
    ["leadfile.db.before-0.2.0", 2, "--html names a file of the database"],
  ])("is rejected in one line at %s", async (name, status, says) => {
    const admin = anAdmin();
    const ended = await admin.run("stats", "acme", "--html", join(admin.folder, name));
    expect(ended).toMatchObject({ status, stderr: expect.stringContaining(says) });
  });
});
