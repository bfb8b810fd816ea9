/** An e-mail address outside ASCII is one address, however its letters and its domain are written. */
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { openDatabase } from "../../src/db/open.ts";
import { accounts } from "../../src/db/schema.ts";
import { blockStatements, hashOf, listInstances } from "../../src/privacy/suppressions.ts";
import { anAdmin } from "../support/admin.ts";
import { filesWith } from "../support/bytes.ts";

const spellings = [
  ["with a domain in its own letters", "Jürgen@Müller.example"],
  ["with a domain in ASCII", "jürgen@xn--mller-kva.example"],
  ["with accents apart", "jürgen@müller.example".normalize("NFD")],
] as const;
const rowOf = (email: string, name: string) => `pixel_id,email,name\npx,${email},${name}\n`;
const pairs = spellings.flatMap(([how, held]) => spellings.map(([asked, given]) => [how, asked, held, given] as const));

describe("an address", () => {
  test.each(pairs)("%s is found, erased and kept out %s", async (_, __, held, given) => {
    const admin = anAdmin();
    await admin.import(rowOf(held, "one"));
    expect((await admin.run("lead", "find", "acme", "--email", given, "--json")).json).toMatchObject({ leads: [{}] });
    const { json, stderr } = await admin.run("lead", "erase", "acme", "--email", given, "--json");
    expect(json).toMatchObject({ erased: 1, receipt: { hashes: [expect.any(String)] } });
    expect(stderr).toContain("No other lead has the address");
    expect(filesWith(admin.folder, held)).toEqual([]);
    for (const [, again] of spellings)
      expect((await admin.import(rowOf(again, "again"))).json).toMatchObject({ imported: 0, suppressed: 1 });
  });

  test("in its own letters may be named by its SHA-256, and is mentioned by a page that has it in ASCII", async () => {
    const admin = anAdmin();
    await admin.import(
      "pixel_id,email,page_url\npx,dana@müller.example,\npx,,https://a.example/dana@xn--mller-kva.example\n",
    );
    const digest = createHash("sha256").update("dana@müller.example").digest("hex");
    const { json, stderr } = await admin.give(digest, "lead", "erase", "acme", "--list", "-", "--json");
    expect(json).toMatchObject([{ erased: 1 }]);
    expect(stderr).toContain("Another 1 lead holds");
    expect((await admin.import(rowOf("dana@xn--mller-kva.example", "again"))).json).toMatchObject({ suppressed: 1 });
  });
});

test("an address that an earlier version blocked in its own letters stays blocked", async () => {
  const admin = anAdmin();
  const database = openDatabase(admin.file);
  const [instance] = listInstances(database);
  const [account] = database.select().from(accounts).all();
  if (instance === undefined || account === undefined) throw new Error("the file is not made yet");
  const hash = hashOf(instance, account.id, { kind: "email", value: "dana@müller.example" });
  const blocks = { hashes: [hash.toString("hex")], digests: [] };
  for (const statement of blockStatements(account.number, instance, blocks, 0, true)) database.run(statement);
  database.$client.close();
  for (const domain of ["müller", "xn--mller-kva"])
    expect((await admin.import(rowOf(`dana@${domain}.example`, "again"))).json).toMatchObject({ suppressed: 1 });
});
