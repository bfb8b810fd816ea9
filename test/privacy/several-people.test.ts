/** A phone may be that of a company: find and erase say how many different people it names, before they are gone. */
import { describe, expect, test } from "bun:test";
import { anAdmin } from "../support/admin.ts";
import { onPersons } from "../support/privacy.ts";
import { onTerminal, plain } from "../support/terminal.ts";

const board = "6195550100";
const header = "name,email,verified_email,phone,pixel_id,page_url\n";
const visits = (people: readonly string[]) =>
  people.map((person, n) => `${person},${board},px,https://shop.example/${n}\n`).join("");
/** Four people of one company, one of them with two addresses, and one without any. */
const company = visits([
  "Dana Whitfield,dana@example.com,",
  "Dana Whitfield,dana@example.com,home@example.org",
  "Dana W,,home@example.org",
  "Robin Vale,ROBIN@example.com,",
  "Robin Vale,robin@example.com,",
  "Robin Vale,,",
  "Kim Ellis,kim@example.com,",
  "Lee Moran,,",
  "lee moran,,",
  ",,",
]);

async function aCompany(text = header + company) {
  const admin = anAdmin();
  await admin.import(text);
  return admin;
}

const byPhone = ["--phone", board];
const theirs = "These leads seem to name 4 different people (by email address, or by name if there is none).";

describe("a phone that several people share", () => {
  test("is counted in a dry run by email addresses, or else by names", async () => {
    const admin = await aCompany();
    const { stdout, stderr } = await admin.run("lead", "erase", "acme", ...byPhone, "--dry-run");
    expect(stdout).toBe("phone: 10 leads\n");
    expect(stderr).toContain(`Warning: ${theirs} All of them would be erased. To erase only one of them, pass --email`);
    const { json } = await onPersons(admin, "erase", byPhone, "--dry-run");
    expect(json["kinds"]).toEqual([{ kind: "phone", persons: 1, leads: 10, people: 4 }]);
  });

  test("is erased without a terminal, with a warning that names nobody", async () => {
    const admin = await aCompany();
    const { status, json, stderr } = await onPersons(admin, "erase", byPhone);
    expect([status, json["erased"], json["people"]]).toEqual([0, 10, 4]);
    expect(stderr).toContain(`Warning: ${theirs} All of them are erased and blocked. To unblock one`);
    expect(stderr.toLowerCase()).not.toMatch(/dana|robin|kim|lee|6195550100/);
  });

  test("gives a warning from find, because nobody may see the leads of another person", async () => {
    const admin = await aCompany();
    const { stderr } = await onPersons(admin, "find", byPhone);
    expect(stderr).toContain(`Warning: ${theirs} Do not give a person the leads of another:`);
  });

  test("asks on a terminal: y erases all of them, anything else nobody", async () => {
    for (const [answer, status, left] of [
      ["n", 1, 10],
      ["y", 0, 0],
    ] as const) {
      const admin = await aCompany();
      const terminal = onTerminal(admin.file, ["lead", "erase", "acme", ...byPhone], { columns: 200 });
      await terminal.seen(/Erase all of them\? \[y\/N\]/);
      expect(plain(terminal.shown())).toContain(theirs);
      terminal.type(`${answer}\r`);
      expect([await terminal.ended, (await admin.leads()).length]).toEqual([status, left]);
      if (status === 1) expect(plain(terminal.shown())).toContain("Nothing was changed. To erase only one of them");
    }
  });

  test("asks also if the phone was typed", async () => {
    const admin = await aCompany();
    const terminal = onTerminal(admin.file, ["lead", "erase", "acme", "--phone", "-"]);
    await terminal.seen(/press Enter and Ctrl-D/);
    terminal.type(`${board}\r\u0004`);
    await terminal.seen(/Erase all of them\? \[y\/N\]/);
    terminal.type("y\r");
    expect([await terminal.ended, await admin.leads()]).toEqual([0, []]);
  });

  test("is named by its line in a list", async () => {
    const admin = await aCompany(`${header}${company}Max Roe,max@example.com,,4155550199,px,\n`);
    const list = `phone\n4155550199\n${board}\nnobody@example.com\n`;
    const said = "Warning: Line 3 of the list seems to name several people";
    for (const [verb = "", ...options] of [["find"], ["erase", "--dry-run"], ["erase"]])
      expect((await onPersons(admin, verb, list, ...options)).stderr).toContain(said);
  });
});

test.each([
  ["whose leads have one address", visits(["Dana,dana@example.com,", "Dana W,Dana@Example.com,"]), byPhone],
  ["whose two addresses stand in one lead", visits(["Dana,a@example.com,b@example.com", "D,b@example.com,"]), byPhone],
  ["with one name and no address", visits(["Dana,,", "DANA,,", ",,"]), byPhone],
  ["of whom nothing is known but the phone", visits([",,", ",,"]), byPhone],
  ["by an email address", company, ["--email", "home@example.org"]],
])("one person %s gives no warning", async (_, rows, asked) => {
  const admin = await aCompany(header + rows);
  expect((await onPersons(admin, "find", asked)).stderr).not.toContain("Warning");
  const { status, stderr } = await onPersons(admin, "erase", asked);
  expect([status, stderr]).toEqual([0, expect.not.stringContaining("Warning")]);
});

test("one person is erased on a terminal without a question", async () => {
  const admin = await aCompany();
  const terminal = onTerminal(admin.file, ["lead", "erase", "acme", "--email", "home@example.org"]);
  expect(await terminal.ended).toBe(0);
  expect(plain(terminal.shown())).not.toMatch(/Warning|y\/N/);
});
