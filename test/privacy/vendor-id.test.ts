/** A person named by an ID that a vendor gave: the ID of the lead is derived from it and from the ID of the pixel. */
import { expect, test } from "bun:test";
import { idFromSource } from "../../src/import/map/identity.ts";
import { anAdmin } from "../support/admin.ts";

const header = "id,date,pixel_id,email\n";
const rows = [
  "visit-1,2026-01-31,px,dana@example.com",
  "visit-1,2026-02-01,px_2,robin@example.com",
  "visit-2,2026-02-02,px,kim@example.com",
  // As imports before version 0.3 derived it, without the pixel.
  `${idFromSource("visit-1", null)},2026-02-03,px,lee@example.com`,
];
const csv = `${header}${rows.join("\n")}\n`;
const emailsOf = (leads: unknown) => JSON.stringify(leads).match(/\w+@example\.com/g);

test("a vendor's ID finds the leads of all pixels that were imported with it", async () => {
  const admin = anAdmin();
  await admin.import(csv);
  const { json } = await admin.run("lead", "find", "acme", "--id", "visit-1", "--json");
  expect(emailsOf(json["leads"])).toEqual(["lee@example.com", "robin@example.com", "dana@example.com"]);
  expect(json).toMatchObject({ leads: [{ pixel_id: "px" }, { pixel_id: "px_2" }, { pixel_id: "px" }] });
  expect((await admin.run("lead", "find", "acme", "--id", "visit-3", "--json")).json["leads"]).toEqual([]);
});

test("a vendor's ID erases them, and blocks it for any pixel", async () => {
  const admin = anAdmin();
  await admin.run("pixel", "create", "acme", "--id", "px_3");
  await admin.import(csv);
  const erased = await admin.give("visit-1\n", "lead", "erase", "acme", "--id", "-", "--json");
  expect(erased.json).toMatchObject({ erased: 3, people: 3 });
  expect(emailsOf(await admin.leads())).toEqual(["kim@example.com"]);
  const others = ["px", "px_2", "px_3"].map(
    (pixel, day) => `visit-1,2026-03-0${day + 1},${pixel},new${day}@example.com`,
  );
  expect((await admin.import(`${header}${others.join("\n")}\n`)).json).toMatchObject({ imported: 0, suppressed: 3 });
  const found = await admin.run("lead", "find", "acme", "--id", "visit-1");
  expect(found.stderr).toContain("An erasure blocks this ID in later imports");
});

test("a vendor's ID lifts its block for all pixels", async () => {
  const admin = anAdmin();
  await admin.import(csv);
  await admin.run("lead", "erase", "acme", "--id", "visit-1");
  expect((await admin.run("lead", "unblock", "acme", "--id", "visit-1", "--json")).json["unblocked"]).toBe(1);
  expect((await admin.run("lead", "unblock", "acme", "--id", "visit-1", "--json")).json["unblocked"]).toBe(0);
  const others = ["px", "px_2"].map((pixel, day) => `visit-1,2026-03-0${day + 1},${pixel},new${day}@example.com`);
  expect((await admin.import(`${header}${others.join("\n")}\n`)).json).toMatchObject({ imported: 2, suppressed: 0 });
});

test.each([
  ["on a line", "visit-1\n"],
  ["in a column named id, whatever it looks like", "lead_id,email\nvisit-1,kim@example.com\n2125550100,\nnone,\n"],
])("a list may give a vendor's ID %s, to find and to erase", async (_, list) => {
  const admin = anAdmin();
  await admin.import(`${csv}2125550100,2026-02-04,px,max@example.com\n`);
  const found = await admin.give(list, "lead", "find", "acme", "--list", "-", "--json");
  const [first] = JSON.parse(found.stdout);
  expect(emailsOf(first.leads)).toEqual(["lee@example.com", "robin@example.com", "dana@example.com"]);
  await admin.give(list, "lead", "erase", "acme", "--list", "-");
  expect(emailsOf(await admin.leads())).toEqual(list.includes("kim") ? null : ["kim@example.com", "max@example.com"]);
});

test("a vendor's ID keeps out what comes with it from a pixel that is created later", async () => {
  const admin = anAdmin();
  await admin.import(csv);
  await admin.run("lead", "erase", "acme", "--id", "visit-1");
  const later = `${header}visit-1,2026-03-01,px_new,new@example.com\nvisit-9,2026-03-02,px_new,other@example.com\n`;
  expect((await admin.import(later)).json).toMatchObject({ imported: 1, suppressed: 1 });
  expect((await admin.run("lead", "unblock", "acme", "--id", "visit-1", "--json")).json["unblocked"]).toBe(1);
  expect((await admin.import(later)).json).toMatchObject({ imported: 1, suppressed: 0 });
});
