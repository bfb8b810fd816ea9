/** The file as its owner reads it, with any SQLite tool. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { leadFields } from "../../src/contract/lead.ts";
import { aLead } from "../support/builders.ts";
import { serve } from "../support/harness.ts";

test("SELECT name, email FROM leads WHERE state = 'CA' gives the people of California", async () => {
  const { file } = await serve({ leads: [aLead({ name: "Ann" }), aLead({ state: "NV" }), aLead({ state: null })] });
  using tool = new Database(file, { readonly: true });
  const people = tool.query("SELECT name, email FROM leads WHERE state = 'CA'").all();
  expect(people).toEqual([{ name: "Ann", email: "dana@example.com" }]);
});

test("every field of a lead can be read in SQL under its own name", async () => {
  const lead = aLead({ verified_email: "v@example.com", children: null });
  const { file } = await serve({ leads: [lead] });
  using tool = new Database(file, { readonly: true });
  // The timestamp of a lead is a number in some versions of the file and a text in others.
  const { identified_at: _, ...rest } = lead;
  const fields = leadFields.filter((field) => field !== "identified_at");
  expect(tool.query(`SELECT ${fields.join(", ")} FROM leads`).get()).toEqual(rest);
});
