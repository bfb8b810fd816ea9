/** bun admin lead find, erase, and unblock: one person, however named, is found, removed with every byte, and kept out. */
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { cpSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { Lead } from "../../src/contract/lead.ts";
import { idFromSource } from "../../src/import/map/identity.ts";
import { type Admin, anAdmin } from "../support/admin.ts";
import { filesWith } from "../support/folder.ts";
import { type Named, onPersons } from "../support/privacy.ts";

type Row = Readonly<Record<string, string>>;

interface Person {
  readonly how: string;
  readonly named: Named;
  readonly kind: "email" | "phone" | "id" | "digest";
  /** The rows of the person, and rows that are kept out as well. */
  readonly own: readonly Row[];
  readonly others?: readonly Row[];
  /** The options that lift one block each: with all of them, the rows are imported again. */
  readonly lifts: readonly (readonly string[])[];
}

const idOf = (number: number) => `0190a000-0000-7000-8000-00000000000${number}`;
const sha256 = (text: string) => createHash("sha256").update(text).digest();
const hexOf = (text: string) => sha256(text).toString("hex");

/** Dana has two leads. The identifiers of the others are nearly hers. */
const dana: Row = { id: idOf(1), email: "Dana.W@Example.com", phone: "+1 555 014 2111" };
const home: Row = { id: idOf(2), email: "home@example.org", verified_email: "DANA.W@EXAMPLE.COM" };
const strangers: readonly Row[] = [
  { id: idOf(3), email: "bandana.w@example.com", phone: "1555014211" },
  { id: idOf(4), email: "dana.w@example.co", phone: "555-014-21111" },
  { id: "visit-2", phone: "25550142111" },
];

const byEmail = ["--email", "dana.w@example.com"];
const byPhone = ["--phone", "15550142111"];
const byHome = ["--email", "home@example.org"];
/** A person with one lead, by that lead. */
const ofOne = { own: [dana], lifts: [byPhone, byEmail] };
/** A person with both leads, by the email address. */
const ofBoth = { own: [dana, home], lifts: [byEmail, byHome] };

/** The leads that a vendor's ID became: one for each pixel, and one without it, as imports before version 0.3 derived it. */
const visits: readonly Row[] = [
  { id: "visit-1", email: "first@example.com" },
  { id: "visit-1", email: "second@example.com", pixel_id: "px_2" },
  { id: idFromSource("visit-1", null), email: "third@example.com" },
];
const ofVisit = {
  kind: "id",
  own: visits,
  others: [{ id: "visit-1", email: "fourth@example.com", pixel_id: "px_3" }],
  lifts: [["--id", "visit-1"], ...visits.map(({ email = "" }) => ["--email", email])],
} as const;

/** A phone by its digest, as vendors write it. */
const digested = ([phone = "", text = ""]: readonly string[]): Person => ({
  how: `the digest of ${text} for the phone ${phone}`,
  named: hexOf(text),
  kind: "digest",
  own: [{ phone }],
  lifts: [["--phone", phone]],
});

const persons: readonly Person[] = [
  { how: "an email address in any case", named: ["--email", " DANA.w@example.COM "], kind: "email", ...ofBoth },
  {
    how: "the SHA-256 of an email address",
    named: hexOf("dana.w@example.com").toUpperCase(),
    kind: "digest",
    ...ofBoth,
  },
  { how: "a phone", named: ["--phone", "+1 (555) 014-2111"], kind: "phone", ...ofOne },
  { how: "the SHA-256 of ten digits", named: sha256("5550142111").toString("base64"), kind: "digest", ...ofOne },
  {
    how: "the ID of a lead in any case",
    named: ["--id", idOf(1).toUpperCase()],
    kind: "id",
    own: [dana],
    lifts: [["--id", idOf(1)], byEmail, byPhone],
  },
  { how: "a vendor's ID", named: ["--id", "visit-1"], ...ofVisit },
  { how: "a line with a vendor's ID", named: "visit-1\n", ...ofVisit },
  { how: "a column of vendor's IDs", named: "lead_id,email\nvisit-1,\n", ...ofVisit },
  {
    how: "the SHA-256 of an address in its own letters",
    named: hexOf("dana@müller.example"),
    kind: "digest",
    own: [{ email: "dana@müller.example" }],
    others: [{ email: "dana@xn--mller-kva.example" }],
    lifts: [["--email", "dana@müller.example"]],
  },
  ...[
    ["+1 415 555 0199", "4155550199"],
    ["+1 415 555 0199", "14155550199"],
    ["+1 415 555 0199", "+14155550199"],
    ["+44 20 7946 0018", "442079460018"],
    ["+47 23 45 67 89", "+4723456789"],
  ].map(digested),
];

const keptOutBy = {
  email: "the same IDs or email addresses; to block a phone as well, run lead erase --phone.",
  phone: "the same phone, IDs, or email addresses.",
  id: "the same ID, email addresses or phones.",
  digest: "that SHA-256, the same IDs, or the same email addresses.",
};

/** A receipt contains hashes and no personal data. */
function receiptOf(leads: number, kind: Person["kind"]) {
  const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
  return {
    erased_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    account: expect.stringMatching(/^acc_\w+$/),
    instance: expect.stringMatching(/^ins_\w{12}$/),
    hashes: expect.arrayContaining([hash]),
    given: kind === "digest" ? [] : expect.arrayContaining([hash]),
    removed: Array(leads).fill(hash),
    digests: kind === "digest" ? [hash] : [],
    received: [],
    gaps: [],
    rejects_files: [],
  };
}

/** A file in which rows follow one another by days. */
const fileOf = (rows: readonly Row[]) =>
  rows
    .map((row, day) => `${JSON.stringify({ pixel_id: "px", date: `2026-01-${10 + day}`, page_url: "/", ...row })}\n`)
    .join("");

/** The values of leads that name a person. */
const valuesOf = (leads: readonly Lead[]) =>
  leads.flatMap(({ id, email, verified_email, phone }) =>
    [id, email, verified_email, phone].flatMap((value) => value ?? []),
  );

const unblock = async (admin: Admin, named: readonly string[]) =>
  (await onPersons(admin, "unblock", named)).json["unblocked"];

test.each(persons)(
  "by $how, a person is found, erased with every byte, kept out, and imported again after an unblock",
  async ({ named, kind, own, others = [], lifts }) => {
    const admin = anAdmin();
    const file = fileOf([...own, ...strangers]);
    await admin.import(file);
    const all = await admin.leads();
    const [theirs, rest] = [all.slice(0, own.length), all.slice(own.length)];
    const found = await onPersons(admin, "find", named);
    expect([found.json].flat()).toMatchObject([{ leads: theirs.toReversed(), received: [], gaps: [] }]);
    expect((await onPersons(admin, "erase", named, "--dry-run")).json).toMatchObject({
      kinds: [{ kind, persons: 1, leads: own.length }],
    });

    const erased = await onPersons(admin, "erase", named);
    expect<unknown>([erased.status, erased.json].flat()).toEqual([
      0,
      { erased: own.length, people: expect.any(Number), receipt: receiptOf(own.length, kind) },
    ]);
    expect(erased.stderr).toContain(` in acme. A later import or restore leaves out leads with ${keptOutBy[kind]}\n`);
    expect(erased.stderr).toContain("No other lead has the email address");
    const said = `${erased.stdout}${erased.stderr}`.toLowerCase();
    expect(valuesOf(theirs).filter((value) => said.includes(value.toLowerCase()))).toEqual([]);
    expect(await admin.leads()).toEqual(rest);
    expect(filesWith(admin.folder, ...valuesOf(theirs))).toEqual([]);
    for (const value of valuesOf(rest)) expect(filesWith(admin.folder, value)).toEqual(["leadfile.db"]);

    const again = fileOf([...own, ...strangers, ...others]);
    const kept = { status: 0, json: { suppressed: own.length + others.length, imported: 0 } };
    for (const options of [["--on-duplicate", "replace"], ["--dry-run"]])
      expect(await admin.import(again, ...options)).toMatchObject(kept);
    for (const lift of lifts) {
      expect((await admin.import(file, "--dry-run")).json["suppressed"]).toBeGreaterThan(0);
      // A digest blocks what it stands for, next to the address or phone of the lead itself.
      expect(await unblock(admin, lift)).toBe(kind === "digest" && lift === lifts[0] ? 2 : 1);
    }
    expect((await admin.import(file)).json).toMatchObject({ imported: own.length, suppressed: 0 });
    expect(await admin.leads()).toEqual(all);
  },
);

describe("find", () => {
  test("of nobody, or only of somebody in another account, is no failure", async () => {
    const admin = anAdmin(["other", "acme"]);
    await admin.run("lead", "import", "other", admin.put("dana.ndjson", fileOf([dana])), "--create-pixels");
    for (const named of [byEmail, ["--email", "nobody@example.com"]])
      expect(await onPersons(admin, "find", named)).toMatchObject({
        status: 0,
        json: { leads: [], received: [], gaps: [] },
      });
  });

  test("says whether the person is blocked, and the other spelling of a phone", async () => {
    const admin = anAdmin();
    const saidOf = async (...asked: string[]) => (await admin.run("lead", "find", "acme", ...asked)).stderr;
    const out = "blocks this email address in later imports. To remove the block, use lead unblock.";
    expect(await saidOf(...byEmail)).not.toContain(out);
    await onPersons(admin, "erase", byEmail);
    expect(await saidOf(...byEmail)).toContain(out);
    await unblock(admin, byEmail);
    expect(await saidOf(...byEmail)).not.toContain(out);
    const hint = "Phones are compared by digits: try the number with and without its country code";
    expect(await saidOf("--phone", "0049 170 1234567")).toContain(hint);
    await admin.import(fileOf([dana]), "--map", "email=-");
    expect(await saidOf(...byPhone)).not.toContain(hint);
  });
});

test.each([
  [[]],
  [["--email", "a@example.com", "--phone", "15550142111"]],
  [["--email", "dana at example"]],
  [["--email", ""]],
  [["--email", "dana@example.com,kim@example.com"]],
  [["--phone", "619-555-0123, 15550142111"]],
  [["--phone", "none"]],
  [["--phone", "-"]],
  [["--id", " "]],
])("requires exactly one identifier, and does not repeat it in the message: %j", async (asked) => {
  const admin = anAdmin();
  for (const verb of ["find", "erase", "unblock"]) {
    const { status, stdout, stderr } = await onPersons(admin, verb, asked);
    expect([status, stdout, stderr]).toEqual([2, "", expect.stringMatching(/^[^\n]{20,}\n$/)]);
    expect(stderr).not.toMatch(/dana|15550142111/);
  }
});

describe("an erasure", () => {
  test("leaves the leads of other accounts, and names the first three that have them", async () => {
    const names = ["acme", "b", "c", "d", "e", "f"];
    const admin = anAdmin(names);
    const file = admin.put("dana.ndjson", fileOf([dana]));
    for (const account of names) await admin.run("lead", "import", account, file, "--create-pixels");
    const { stderr } = await onPersons(admin, "erase", byEmail);
    expect(stderr).toContain(
      "Other leads of b and c and d and 2 more have the same email address, phone, or ID, and were kept.",
    );
  });

  test("names copies of the file, and deliveries that no import took, that hold the person still", async () => {
    const admin = anAdmin();
    await admin.import(fileOf([dana]));
    const copy = `${admin.file}.before-migration-2`;
    cpSync(admin.file, copy);
    const packed = admin.put("leadfile.db.gz", gzipSync(readFileSync(copy)));
    const rejected = admin.put("leadfile.db.spool/src_1/rejected/1.ndjson", fileOf([dana]));
    const pending = admin.put("leadfile.db.spool/src_1/2.ndjson", fileOf([dana]));
    const { stderr } = await onPersons(admin, "erase", byEmail);
    for (const named of [copy, packed, rejected]) expect(stderr).toContain(named);
    expect(stderr).not.toContain(pending);
  });

  test("of nobody is no failure, and keeps them out from then on, of its account alone", async () => {
    const admin = anAdmin(["acme", "other"]);
    const erased = await onPersons(admin, "erase", byEmail);
    expect(erased).toMatchObject({ status: 0, json: { erased: 0 } });
    // Nobody knows another ID or address of them that could be blocked.
    expect(erased.stderr).toContain("A later import or restore leaves out leads with this email address.\n");
    expect((await admin.import(fileOf([dana, ...strangers]))).json).toMatchObject({ imported: 3, suppressed: 1 });
    const file = admin.put("dana.ndjson", fileOf([dana]));
    const other = await admin.run("lead", "import", "other", file, "--create-pixels", "--json");
    expect(other.json).toMatchObject({ imported: 1, suppressed: 0 });
  });

  test("keeps a vendor's ID out of a pixel that is created later", async () => {
    const admin = anAdmin();
    await onPersons(admin, "erase", ["--id", "visit-1"]);
    const later = fileOf([{ id: "visit-1", email: "new@example.com", pixel_id: "px_new" }]);
    expect((await admin.import(later)).json).toMatchObject({ imported: 0, suppressed: 1 });
    expect(await unblock(admin, ["--id", "visit-1"])).toBe(1);
    expect((await admin.import(later)).json).toMatchObject({ imported: 1, suppressed: 0 });
  });

  test("has other hashes for the same person in another account and in another file", async () => {
    const one = anAdmin(["acme", "other"]);
    const hashes = async (admin: Admin, account: string) => {
      const { json } = await admin.run("lead", "erase", account, ...byEmail, "--json");
      return (json["receipt"] as { hashes: string[] }).hashes; // A test above checks the shape.
    };
    const all = [...(await hashes(one, "acme")), ...(await hashes(one, "other")), ...(await hashes(anAdmin(), "acme"))];
    expect(new Set(all).size).toBe(3);
    expect(await hashes(one, "acme")).toEqual(all.slice(0, 1));
  });
});

describe("unblock", () => {
  test("lifts one address alone, and says so", async () => {
    const admin = anAdmin();
    await admin.import(fileOf([home]));
    await onPersons(admin, "erase", byEmail);
    const { stdout, stderr, status } = await admin.give(
      "dana.w@example.com",
      "lead",
      "unblock",
      "acme",
      "--email",
      "-",
    );
    expect([status, stdout]).toEqual([0, "1 block of this email address is removed in acme.\n"]);
    expect(stderr).toContain("a lead with another blocked value still stays out");
    expect(stderr).toContain("Import the file again");
  });

  test("of somebody who is not blocked succeeds and lifts nothing", async () => {
    const admin = anAdmin(["acme", "other"]);
    await onPersons(admin, "erase", byEmail);
    for (const [account, named] of [
      ["acme", byHome],
      ["other", byEmail],
    ] as const) {
      const { status, stdout } = await admin.run("lead", "unblock", account, ...named);
      expect([status, stdout]).toEqual([0, `No block of this email address was found in ${account}.\n`]);
      expect((await admin.run("lead", "unblock", account, ...named, "--json")).stdout).toBe('{"unblocked":0}\n');
    }
    expect((await admin.import(fileOf([dana]))).json).toMatchObject({ suppressed: 1 });
  });

  test("is in the audit without personal data", async () => {
    const admin = anAdmin();
    await onPersons(admin, "erase", byEmail);
    await unblock(admin, byEmail);
    const [act] = JSON.parse((await admin.run("audit", "list", "--json")).stdout);
    expect(act).toMatchObject({ act: "lead.unblock", detail: { by: "email", unblocked: 1 } });
    expect(JSON.stringify(act)).not.toMatch(/dana/i);
  });
});
