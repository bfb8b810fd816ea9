/** An erasure looks for the bare value, in every form in which it may be stored, and says which other leads hold it. */
import { expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { type Admin, anAdmin } from "../support/admin.ts";
import { filesWith } from "../support/folder.ts";

const dana = "pixel_id,email,phone,page_url\npx,Dana.W+shop@Example.com,16195550123,https://shop.example.com/\n";

/** A file with Dana's lead and one of Robin on a page with a certain address. */
async function withPage(pageUrl: string): Promise<{ admin: Admin; robin: string }> {
  const admin = anAdmin();
  await admin.import(dana);
  await admin.import(`pixel_id,email,page_url\npx,robin@example.com,"${pageUrl}"\n`);
  const robin = (await admin.leads()).find(({ email }) => email === "robin@example.com")?.id ?? "";
  return { admin, robin };
}

const byEmail = ["--email", "dana.w+shop@example.com"];
const byPhone = ["--phone", "619-555-0123"];
const erase = ["lead", "erase", "acme"];

const forms = [
  ["as it is", byEmail, "https://a.example/?email=dana.w+shop@example.com&x=1"],
  ["in upper case", byEmail, "https://a.example/?email=DANA.W+SHOP@EXAMPLE.COM"],
  ["with its @ encoded", byEmail, "https://a.example/?email=dana.w+shop%40example.com"],
  ["wholly encoded", byEmail, "https://a.example/?next=%2Fx%3Femail%3Ddana.w%2Bshop%40example.com%26y"],
  ["encoded twice", byEmail, "https://a.example/?next=dana.w%252Bshop%2540example.com"],
  ["in round quotes", byEmail, "https://a.example/?q=“dana.w+shop@example.com”"],
  ["in a list with bullets", byEmail, "https://a.example/?q=•dana.w+shop@example.com…"],
  ["between angles", byEmail, "https://a.example/?q=«dana.w+shop@example.com»"],
  ["as a phone without its 1", byPhone, "https://a.example/call/6195550123"],
  ["as a phone with its 1", byPhone, "https://a.example/?tel=%2B16195550123"],
  ["as a phone in groups", byPhone, "https://a.example/?tel=(619) 555-0123"],
  ["as a phone with encoded separators", byPhone, "https://a.example/?p=%28619%29%20555%2D0123"],
  ["next to a stray %", byPhone, "https://a.example/?q=100%&p=%2B1%20619.555.0123"],
  ["as a phone encoded twice", byPhone, "https://a.example/?p=%252B1619555%2530123"],
  ["with an international prefix", byPhone, "https://a.example/tel/001-619-555-0123/"],
  ["in a sentence", byPhone, "call 619 · 555 – 0123"],
  ["with another tag", byEmail, "https://a.example/?e=dana.w%2Bnews%40example.com"],
  ["without a tag, next to a stray %", byEmail, "https://a.example/?x=50%&e=DANA.W%2540Example.COM"],
  ["as a link", byEmail, "https://a.example/?to=mailto:dana.w@example.com?subject=x"],
  ["as a character reference", byEmail, "https://a.example/?e=dana.w&#64;example.com"],
  ["as old scripts encode it", byEmail, "https://a.example/?e=dana.w%u0040example.com"],
  ["in full-width letters", byEmail, "https://a.example/?e=ｄａｎａ.w＠example.com"],
  ["with invisible characters", byEmail, "https://a.example/?e=dana.w%E2%80%8B@exam\u00adple.com"],
] as const;

test.each([
  ["email address", byEmail],
  ["phone", byPhone],
] as const)(
  "another lead whose page_url has the %s in any form is found, and --mentions erases it",
  async (_, asked) => {
    const admin = anAdmin();
    await admin.import(dana);
    const ofKind = forms.filter(([, by]) => by === asked);
    const rows = ofKind.map(([name, , pageUrl]) => ({
      pixel_id: "px",
      name,
      email: "robin@example.com",
      page_url: pageUrl,
    }));
    await admin.import(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const names = rows.map(({ name }) => name);
    const nameOf = new Map((await admin.leads()).map(({ id, name }) => [id, name]));
    const { stdout } = await admin.give(`${asked[1]}\n`, "lead", "find", "acme", "--list", "-", "--json");
    const [found]: { mentions: string[] }[] = JSON.parse(stdout);
    expect(found?.mentions.map((id) => nameOf.get(id) ?? id).toSorted()).toEqual(names.toSorted());
    const { stderr } = await admin.run(...erase, ...asked);
    expect(stderr).toContain(`${names.length} other leads contain`);
    expect(stderr).not.toContain("No other lead has the email address");
    const { json } = await admin.run(...erase, ...asked, "--mentions", "--json");
    expect([json["erased"], await admin.leads()]).toEqual([names.length, []]);
    // In no encoding does the folder hold what was asked for, nor what the leads had.
    const written = ofKind.map(([, , pageUrl]) => pageUrl);
    expect(filesWith(admin.folder, "Dana.W+shop@Example.com", "6195550123", ...written)).toEqual([]);
  },
);

test("find names other leads that mention the person, even if the person has no lead", async () => {
  const { admin, robin } = await withPage("https://a.example/?email=dana.w%2Bshop%40example.com");
  const elsewhere = `1 other lead contains an email address or phone of this person, such as in page_url. To show each, run lead find --id: ${robin}.`;
  const find = ["lead", "find", "acme"];
  expect((await admin.run(...find, ...byEmail)).stderr).toContain(elsewhere);
  await admin.run(...erase, ...byEmail);
  const { stdout, stderr } = await admin.run(...find, ...byEmail);
  expect(stdout).toBe("");
  expect(stderr).toStartWith(
    `No lead of this person was found in acme.\n${elsewhere}\nAn erasure blocks this email address in later imports. To remove the block, use lead unblock.\nNot searchable: `,
  );
  const listed = await admin.give("dana.w+shop@example.com\nrobin@example.com\n", ...find, "--list", "-", "--json");
  expect(listed.json).toMatchObject([
    { leads: [], mentions: [robin] },
    { leads: [{ id: robin }], mentions: [] },
  ]);
  expect(listed.stderr).toContain(
    '1 of 2 have leads.\n1 other lead contains one of their email addresses or phones; "',
  );
});

test("find --id names other leads with the address of that lead", async () => {
  const admin = anAdmin();
  await admin.import("id,pixel_id,email\nvisit-1,px,dana@example.com\nvisit-2,px,dana@example.com\n");
  const { stderr } = await admin.run("lead", "find", "acme", "--id", "visit-1");
  expect(stderr).toContain("1 other lead contains an email address or phone of this person, such as in page_url.");
});

test("find --phone also looks for the address of the lead it finds", async () => {
  for (const [options, erased, left] of [
    [[], 1, 1],
    [["--mentions"], 2, 0],
  ] as const) {
    const { admin } = await withPage("https://a.example/dana.w+shop@example.com/");
    const { json, stderr } = await admin.run(...erase, ...byPhone, ...options, "--json");
    expect({ erased: json["erased"], left: (await admin.leads()).length }).toEqual({ erased, left });
    if (left === 1) expect(stderr).toContain("1 other lead contains");
  }
});

test("erase lists leads with another address of the person separately, and erase --id removes them", async () => {
  const admin = anAdmin();
  await admin.import(
    "id,pixel_id,email,verified_email,page_url\nv1,px,home@example.org,,\n" +
      "v2,px,dana@example.com,home@example.org,\nv3,px,robin@example.com,,https://a.example/home@example.org\n",
  );
  const idOf = async (email: string) => (await admin.leads()).find((lead) => lead.email === email)?.id ?? "";
  const [home, robin] = [await idOf("home@example.org"), await idOf("robin@example.com")];
  const { stderr } = await admin.run(...erase, "--email", "dana@example.com");
  const [, own, mention] = stderr.split("\n");
  expect(own).toContain("1 other lead contains an email address or phone of an erased person, and was kept;");
  expect(own).toContain("If it is the same person, run lead erase --id; if not, run lead unblock.");
  expect(own).toEndWith(`: ${home}.`);
  expect(mention).toEndWith(`pass --mentions with that address or phone: ${robin}.`);
  expect((await admin.run(...erase, "--id", home, "--json")).json).toMatchObject({ erased: 1 });
  expect((await admin.leads()).map(({ id }) => id)).toEqual([robin]);
});

test.each([
  "https://a.example/?email=bandana.w+shop@example.com",
  "https://a.example/?email=x-dana.w+shop@example.com",
  "https://a.example/?email=dana.w+shop@example.com.au",
  "https://a.example/?n=961955501234",
])("a part of a longer word is not a mention: %s", async (pageUrl) => {
  const { admin } = await withPage(pageUrl);
  const { stderr } = await admin.run(...erase, ...byEmail, "--mentions");
  expect(stderr).toContain("No other lead has the email address");
  expect(await admin.leads()).toHaveLength(1);
});

test("a lead erased for its mention is blocked by its ID, and its own person can be imported again", async () => {
  const { admin } = await withPage("https://a.example/?email=dana.w+shop@example.com");
  const [, robin] = await admin.leads();
  await admin.run(...erase, ...byEmail, "--mentions");
  expect((await admin.import(`${JSON.stringify(robin)}\n`)).json).toMatchObject({ suppressed: 1 });
  expect((await admin.import("pixel_id,email\npx,robin@example.com\n")).json).toMatchObject({ imported: 1 });
});

test("names copies that hold the person, whatever their file name", async () => {
  const { admin } = await withPage("https://a.example/");
  const backup = join(admin.folder, "tuesday.bak");
  await admin.run("backup", backup);
  cpSync(admin.file, `${admin.file}.old`);
  const other = anAdmin();
  await other.import("pixel_id,email\npx,robin@example.com\n");
  cpSync(other.file, join(admin.folder, "others.db"));
  const { stderr } = await admin.run(...erase, ...byEmail);
  for (const copy of [backup, `${admin.file}.old`]) expect(stderr).toContain(copy);
  expect(stderr).not.toContain("others.db");
});

test("an address that was dropped at import is in no file of the folder", async () => {
  const admin = anAdmin();
  await admin.import("pixel_id,name,email\npx,Dana,first@example.com; second@example.org\npx,Kim,no address\n");
  expect(filesWith(admin.folder, "second@example.org", "no address")).toEqual([]);
});

test("the receipt names the rejects files of the account, and no others", async () => {
  const admin = anAdmin(["acme", "other", "clean"]);
  const rejects = join(admin.folder, "rejects.csv");
  await admin.run("lead", "import", "clean", admin.put("dana.csv", dana), "--create-pixels", "--rejects", "none.csv");
  await admin.import(`${dana}px,,,\n`, "--rejects", "rejects.csv");
  for (const [account, files] of [
    ["acme", [rejects]],
    ["other", []],
    ["clean", []],
  ] as const) {
    const { json, stderr } = await admin.run("lead", "erase", account, ...byEmail, "--json");
    expect(json["receipt"]).toMatchObject({ rejects_files: files });
    // It holds rows of others alone.
    expect(stderr).not.toContain(rejects);
  }
});

test("the receipt names the rejects file of an import that added nothing", async () => {
  const admin = anAdmin();
  const rejects = join(admin.folder, "rejects.csv");
  const { json } = await admin.import(`date,${dana.replace("\npx", "\nnever,px")}`, "--rejects", rejects);
  expect(json).toMatchObject({ import: null, imported: 0, rejected: 1 });
  expect((await admin.run("import", "list", "acme")).stdout).toBe("The account has no imports.\n");
  expect((await admin.run("import", "undo", "acme", "1")).stderr).toContain("The account has no import");
  const erased = await admin.run(...erase, ...byEmail, "--json");
  expect(erased.json["receipt"]).toMatchObject({ rejects_files: [rejects] });
  expect(erased.stderr).toContain(`An import wrote rejected rows to this file. Search it for the person: ${rejects}`);
});

test("reports labels that contain the person", async () => {
  const admin = anAdmin();
  const file = admin.put("dana.w+shop@example.com.csv", dana);
  await admin.run("lead", "import", "acme", file, "--create-pixels");
  await admin.run("key", "create", "acme", "--label", "for Dana.W+Shop@example.com");
  await admin.run("key", "create", "acme", "--label", "for others");
  await admin.run("pixel", "create", "acme", "--id", "px dana.w+shop@example.com");
  const { status, stderr } = await admin.run(...erase, ...byEmail);
  const said = stderr.split("\n").filter((line) => line.startsWith("The name of a file"));
  const stays = "The name of a file, pixel, key, source, or account contains an erased identifier, and was kept: ";
  const names = ["dana.w+shop@example.com.csv", "for Dana.W+Shop@example.com", "px dana.w+shop@example.com"];
  expect(said).toEqual(names.map((name) => `${stays}${name}`));
  expect([status, stderr]).toEqual([0, expect.stringContaining("No other lead has the email address")]);
});

test("the shortest email address is found in another field", async () => {
  const admin = anAdmin();
  await admin.import("pixel_id,name,email\npx,a@b,robin@example.com\n");
  const { stderr } = await admin.run(...erase, "--email", "a@b");
  expect(stderr).toContain("1 other lead contains");
});

test("letters outside ASCII match in upper and lower case", async () => {
  const admin = anAdmin();
  await admin.import(
    "pixel_id,email,page_url\npx,MüLLÉR@Example.com,\npx,robin@example.com,https://a.example/MÜLLÉR@example.com\n",
  );
  const { json, stderr } = await admin.run(...erase, "--email", "müllér@example.COM", "--json");
  expect(json["erased"]).toBe(1);
  expect(stderr).toContain("1 other lead contains");
});
