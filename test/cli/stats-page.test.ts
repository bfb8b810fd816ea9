/** bun admin stats --html: the charts as one page that needs no network, without anything of a person. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dayMs } from "../../src/contract/calendar.ts";
import { findings, inBrowser, look, overflow } from "../docs/browser.ts";
import { type Admin, anAdmin } from "../support/admin.ts";

const program = join(import.meta.dir, "../../src/admin.ts");
const yesterday = new Date(Date.now() - dayMs).toISOString();

async function pageOf(admin: Admin): Promise<string> {
  const file = join(admin.folder, "stats.html");
  expect(await admin.run("stats", "acme", "--html", file)).toMatchObject({ status: 0, stderr: "" });
  return readFileSync(file, "utf8");
}

test("the page has leads by day as bars, and a table of leads by day, pixel, state, and source", async () => {
  const admin = anAdmin();
  await admin.import(
    `email,identified_at,pixel_id,state,traffic_source\na@example.com,${yesterday},px_<shop>,CA,news & more`,
  );
  const page = await pageOf(admin);
  for (const title of ["Leads per day", "Leads by pixel", "Leads by state", "Leads by source", "Imports"]) {
    expect(page).toContain(`<figcaption><h2>${title}</h2></figcaption>`);
  }
  expect(page.match(/<i style="height:(?:0|100)%">/g)).toHaveLength(30);
  expect(page.match(/<table>/g)).toHaveLength(5);
  expect(page).toContain("<td>px_&lt;shop&gt;</td><td>1</td>");
  expect(page).toContain("<td>news &amp; more</td><td>1</td>");
});

inBrowser.each(["light", "dark"] as const)(
  "in %s mode the page is accessible, and does not scroll sideways",
  async (colorScheme) => {
    const name = `${"Harbor&Pine".repeat(8)} 株式会社`;
    const admin = anAdmin([name]);
    const rows = ["px_shop", "p".repeat(90)].map((pixel, n) => `a${n}@example.com,${yesterday},${pixel},CA,news\n`);
    const leads = admin.put("leads.csv", `email,identified_at,pixel_id,state,traffic_source\n${rows.join("")}`);
    const file = join(admin.folder, "stats.html");
    await admin.run("lead", "import", name, leads, "--create-pixels");
    await admin.run("stats", name, "--html", file);
    for (const viewport of [
      { width: 1280, height: 900 },
      { width: 375, height: 740 },
    ]) {
      const looking = await look(`file://${file}`, { viewport, colorScheme });
      for (const table of await looking.page.locator("summary").all()) await table.click();
      expect([await findings(looking), looking.complaints, await overflow(looking)]).toEqual([[], [], 0]);
    }
  },
);

test("the page loads nothing from anywhere", async () => {
  const admin = anAdmin();
  await admin.import(`email,identified_at,pixel_id\na@example.com,${yesterday},px_shop`);
  const page = await pageOf(admin);
  expect(page).toContain("default-src 'none'");
  expect(page).not.toMatch(/\b(?:src|href)=|url\(|@import|<script/);
});

test("the page is written through no link that somebody has laid under the name of its draft", async () => {
  const admin = anAdmin();
  const [precious, file] = [admin.put("precious", "years of work"), join(admin.folder, "stats.html")];
  // The shell keeps its number when it becomes the command.
  const line = `ln -s ${precious} ${file}.draft-$$; exec ${process.execPath} ${program} stats acme --html ${file}`;
  const { exitCode } = Bun.spawnSync(["sh", "-c", line], { env: { DATABASE_PATH: admin.file } });
  expect([exitCode, readFileSync(precious, "utf8"), existsSync(file)]).toEqual([1, "years of work", false]);
});

test("the page has nothing of a person, whatever stands in a source", async () => {
  const admin = anAdmin();
  const sources = [
    "https://mail.example.com/spring?to=dana@example.com",
    "https://mail.example.com/spring",
    "for Dana@example.com",
  ];
  const rows = sources.map(
    (source) =>
      `Dana Weber,dana@example.com,6195550123,Fallbrook,https://www.example.com/private,${source},${yesterday},px_shop`,
  );
  await admin.import(["name,email,phone,city,page_url,traffic_source,identified_at,pixel_id", ...rows].join("\n"));
  const page = await pageOf(admin);
  for (const value of ["Dana", "dana", "6195550123", "Fallbrook", "private"]) expect(page).not.toContain(value);
  expect(page).toContain("<td>https://mail.example.com/spring</td><td>2</td>");
});

test("an account without leads has a page that says so, and no chart", async () => {
  const page = await pageOf(anAdmin());
  expect(page.match(/No leads came in these days\./g)).toHaveLength(4);
  expect(page).not.toContain('class="columns"');
  expect(page).toContain("No key made a request in these days.");
});

test("--json prints the figures beside the page", async () => {
  const admin = anAdmin();
  const file = join(admin.folder, "stats.html");
  const { json } = await admin.run("stats", "acme", "--html", file, "--json");
  expect(json).toMatchObject({ leads: { all: 0 }, imports: [] });
  expect(readFileSync(file, "utf8")).toStartWith("<!doctype html>");
});

test("a page that cannot be written, or would lie on the database, is refused in one line", async () => {
  const admin = anAdmin();
  for (const name of ["none/stats.html", "n".repeat(250)]) {
    const file = join(admin.folder, name);
    expect(await admin.run("stats", "acme", "--html", file)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`${file} cannot be written`),
    });
  }
  expect(await admin.run("stats", "acme", "--html", admin.file)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("belongs to the database"),
  });
  const kept = admin.put("stats.html", "old");
  writeFileSync(kept, "old");
  expect(await admin.run("stats", "acme", "--html", kept)).toMatchObject({ status: 0 });
  expect(readFileSync(kept, "utf8")).not.toBe("old");
});

test("the figures leave out an import that was taken back", async () => {
  const admin = anAdmin();
  for (const email of ["a@example.com", "b@example.com"]) await admin.import(`email,pixel_id\n${email},px_shop`);
  await admin.run("import", "undo", "acme", "2");
  const { json } = await admin.run("stats", "acme", "--json");
  expect(json).toMatchObject({ leads: { all: 1 }, imports: [{ import: 1 }] });
});
