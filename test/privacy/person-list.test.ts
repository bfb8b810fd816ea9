/** bun admin lead erase --list and find --list: many persons at once. */
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { anAdmin } from "../support/admin.ts";
import { filesWith } from "../support/folder.ts";
import { onPersons } from "../support/privacy.ts";
import { signalBelow } from "../support/write-lock.ts";

const ids = [1, 2, 3, 4, 5, 6].map((n) => `0190a000-0000-7000-8000-00000000000${n}`);
const rows = [
  `${ids[0]},2026-01-01T00:00:01Z,px,Dana@Example.com,`,
  `${ids[1]},2026-01-02T00:00:01Z,px,,16195550123`,
  `${ids[2]},2026-01-03T00:00:01Z,px,robin@example.com,`,
  `${ids[3]},2026-01-04T00:00:01Z,px,kim@example.com,`,
  `${ids[4]},2026-01-05T00:00:01Z,px,,14155550199`,
  `${ids[5]},2026-01-06T00:00:01Z,px,stays@example.com,12125550100`,
];
const everything = `id,identified_at,pixel_id,email,phone\n${rows.join("\n")}\n`;
const sha256 = (text: string) => createHash("sha256").update(text).digest();

/** One of each kind; a phone as a digest of ten digits, though eleven are stored. */
const list = [
  " dana@example.COM",
  "+1 (619) 555-0123 x12",
  ids[2],
  sha256("kim@example.com").toString("hex").toUpperCase(),
  sha256("4155550199").toString("base64"),
  "nobody@example.com",
].join("\r\n");

async function aFile() {
  const admin = anAdmin();
  await admin.import(everything);
  return admin;
}

const receiptsIn = (stdout: string) =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("erase --list", () => {
  test("erases each person of a list, in any form, and prints a receipt for each", async () => {
    const admin = await aFile();
    const path = admin.put("list.txt", `${list}\r\n`);
    const { status, stdout, stderr } = await admin.run("lead", "erase", "acme", "--list", path);
    expect([status, stderr]).toEqual([0, expect.stringContaining("Erased 5 leads of 5 out of 6 persons")]);
    const hashesAndDigests = receiptsIn(stdout).map(({ hashes, digests }) => `${hashes.length} ${digests.length}`);
    expect(hashesAndDigests).toEqual(["2 0", "2 0", "2 0", "2 1", "2 1", "1 0"]);
    expect((await admin.leads()).map(({ id }) => id)).toEqual([ids[5] ?? ""]);
    expect(filesWith(admin.folder, "Dana@Example.com", "6195550123", "kim@example.com", ids[2] ?? "")).toEqual([
      "list.txt",
    ]);
    // Also those without a lead, and those named by a digest, stay out.
    expect((await admin.import(everything)).json).toMatchObject({ suppressed: 5, duplicates: 1 });
    const others = "pixel_id,email,phone\npx,NOBODY@example.com,\npx,Kim@Example.com,\npx,new@example.com,4155550199\n";
    expect((await admin.import(others)).json).toMatchObject({ suppressed: 3, imported: 0 });
  });

  test("with --json prints one value whose receipts repeat the erasures on another machine", async () => {
    const admin = await aFile();
    const backup = `${admin.folder}/copy.db`;
    await admin.run("backup", backup);
    const { stdout, json } = await onPersons(admin, "erase", list);
    expect(json).toMatchObject([1, 1, 1, 1, 1, 0].map((erased) => ({ erased })));
    const other = anAdmin([]);
    const ended = await other.run("restore", backup, "--receipts", admin.put("receipts.json", stdout), "--json");
    expect(ended).toMatchObject({ status: 0, json: { leads: 1, erased_again: 5 } });
    expect((await other.import(everything)).json).toMatchObject({ suppressed: 5, duplicates: 1 });
  });

  test("with --dry-run prints how many of each kind it would remove, and changes nothing", async () => {
    const admin = await aFile();
    const { json, status } = await onPersons(admin, "erase", list, "--dry-run");
    const kinds = [
      { kind: "email", persons: 2, leads: 1, people: 1 },
      { kind: "phone", persons: 1, leads: 1, people: 1 },
      { kind: "id", persons: 1, leads: 1, people: 1 },
      { kind: "digest", persons: 2, leads: 2, people: 2 },
    ];
    expect({ status, kinds: json["kinds"] }).toEqual({ status: 0, kinds });
    expect((await admin.import(everything)).json).toMatchObject({ duplicates: 6, suppressed: 0 });
  });
});

describe("a list of persons", () => {
  test.each([
    ["a column of a CSV file under a name", 'email\n"dana@example.com"\nrobin@example.com\n', 2, 2],
    ["several columns of a CSV file", "email,phone\ndana@example.com,619-555-0123\nrobin@example.com,\n", 3, 3],
    ["IDs of a vendor under their name, whatever they look like", "lead_id\n2125550100\nnone\n", 2, 1],
  ])("may be %s", async (_, text, persons, leads) => {
    const admin = await aFile();
    await admin.import("id,pixel_id,email\n2125550100,px,max@example.com\n");
    const { status, stdout } = await admin.give(text, "lead", "erase", "acme", "--list", "-");
    expect({ status, receipts: receiptsIn(stdout).length }).toEqual({ status: 0, receipts: persons });
    expect(await admin.leads()).toHaveLength(7 - leads);
  });

  test.each([
    ["a word", "dana@example.com\n\nhello\n", "Line 3"],
    ["an address without a name", "@example.com\n", "Line 1"],
    ["two addresses in one place", "robin@example.com\ndana@example.com kim@example.com\n", "Line 2"],
    ["two phones in one place", "619-555-0123 / 619-555-0124\n", "Line 1"],
    ["a digest that was cut", `dana@example.com\n${"a".repeat(63)}\n`, "Line 2"],
    ["a column of names", "Name;E-Mail\nAnn Lee;ann@example.com\n", "In a table, keep only such columns"],
    ["nothing at all", "\n\n", "names no person"],
  ])("with %s is rejected with its line before anything is erased", async (_, text, said) => {
    const admin = await aFile();
    const { status, stdout, stderr } = await onPersons(admin, "erase", text);
    expect([status, stdout, stderr]).toEqual([1, "", expect.stringMatching(/^[^\n]{20,}\n$/)]);
    expect(stderr).toContain(said);
    expect(stderr).not.toMatch(/hello|dana/);
    expect(await admin.leads()).toHaveLength(6);
  });
});

test("erase --list that is stopped has erased and blocked what has a receipt, and running it again completes it", async () => {
  const many = 600;
  const admin = anAdmin();
  const people = Array.from({ length: many }, (_, n) => `person${n}@example.com`);
  const file = `pixel_id,email\n${people.map((email) => `px,${email}`).join("\n")}\n`;
  await admin.import(file);
  const path = admin.put("list.txt", people.join("\n"));
  const running = admin.start("lead", "erase", "acme", "--list", path);
  expect(await signalBelow(many, admin.file, running, "SIGTERM")).toBe(143);
  const left = (await admin.leads()).length;
  expect(left).toBeGreaterThan(0);
  expect(receiptsIn((await admin.run("receipt", "list", "acme")).stdout)).toHaveLength(many - left);
  expect((await admin.import(file)).json).toMatchObject({ suppressed: many - left, imported: 0 });
  const again = await admin.run("lead", "erase", "acme", "--list", path);
  expect([again.status, receiptsIn(again.stdout).length, await admin.leads()]).toEqual([0, many, []]);
});

test("a SHA-256 finds leads that mention its address or phone, and --mentions erases them", async () => {
  const admin = await aFile();
  const pages = [
    "https://a.example/?e=Ann%2540Example.com",
    "https://a.example/?to=ann+x@example.com",
    "/call/(212)%20555-0142",
  ];
  const rows = pages.map((page_url, n) => JSON.stringify({ pixel_id: "px", email: `p${n}@example.org`, page_url }));
  await admin.import(rows.join("\n"));
  const text = [sha256("ann@example.com").toString("hex"), sha256("+12125550142").toString("base64")].join("\n");
  const ofPerson = (count: number) => ({ mentions: Array(count).fill(expect.any(String)) });
  expect((await onPersons(admin, "find", text)).json).toMatchObject([ofPerson(2), ofPerson(1)]);
  expect((await onPersons(admin, "erase", text)).stderr).toContain("3 other leads contain");
  await onPersons(admin, "erase", text, "--mentions");
  expect(await admin.leads()).toHaveLength(6);
});

test("find --list prints the data held on each person, one person per line, also if one is listed twice", async () => {
  const admin = await aFile();
  const all = await admin.leads();
  const twice = `${list}\nDANA@example.com\n`;
  const { stdout, stderr, status } = await admin.give(twice, "lead", "find", "acme", "--list", "-");
  expect([status, stderr]).toEqual([0, expect.stringContaining("6 of 7 have leads.")]);
  const found = [...all.slice(0, 5).map((lead) => [lead]), [], all.slice(0, 1)];
  expect(receiptsIn(stdout)).toMatchObject(found.map((leads, n) => ({ line: n + 1, leads })));
  expect((await onPersons(admin, "find", twice)).json).toMatchObject(receiptsIn(stdout));
});
