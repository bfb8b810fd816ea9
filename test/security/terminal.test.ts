/** Untrusted text on a terminal: data of leads and names of files. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { deliver, failed } from "../../packages/client/program/receiver.ts";
import { type Admin, anAdmin } from "../support/admin.ts";
import { aLead } from "../support/builders.ts";
import { onTerminal } from "../support/terminal.ts";

/** Control characters that move the cursor, set a title, or change the direction of text. */
const escapes = "\u001b[2J\u009b2J\u009d0;owned\u009c\u007f\u202e\u2066";
const name = `Dana ${escapes} Whitfield`;

/** Everything that a terminal would obey but for the ends of lines. */
const obeyed = /(?!\r?\n)[\p{Cc}\p{Cf}]/u;

async function withLead(): Promise<Admin> {
  const admin = anAdmin();
  await admin.import(`${JSON.stringify({ email: "d@example.com", name, pixel_id: "px" })}\n`);
  writeFileSync(join(admin.folder, "list.txt"), "d@example.com\n");
  return admin;
}

const ways = [
  ["find", "acme", "--email", "d@example.com"],
  ["find", "acme", "--email", "d@example.com", "--json"],
  ["find", "acme", "--list", "list.txt"],
  ["export", "acme"],
  ["export", "acme", "--format", "csv"],
];

test.each(ways)("lead %s %s %s %s %s escapes control characters on a terminal", async (...args) => {
  const { file, folder } = await withLead();
  const words = args.map((word) => (word === "list.txt" ? join(folder, word) : word));
  const terminal = onTerminal(file, ["lead", ...words.filter((word) => word !== undefined)]);
  expect(await terminal.ended).toBe(0);
  expect(terminal.shown()).toContain("Dana \\u001b[2J\\u009b2J\\u009d0;owned\\u009c\\u007f\\u202e\\u2066 Whitfield");
  expect(terminal.shown()).not.toMatch(obeyed);
});

test("a lead on a terminal is equivalent JSON, and a file gets the lead as served", async () => {
  const admin = await withLead();
  const terminal = onTerminal(admin.file, ["lead", "export", "acme"]);
  await terminal.ended;
  expect(JSON.parse(terminal.shown())).toMatchObject({ name });
  const { stdout } = await admin.run("lead", "find", "acme", "--email", "d@example.com");
  expect(`${stdout.trimEnd()}\n`).toBe(await admin.exported());
});

test("file names are printed without control characters", async () => {
  const admin = anAdmin();
  const file = admin.put(`a${escapes}.csv`, "PK\u0003\u0004");
  const csv = admin.put(`b${escapes}.csv`, "email,pixel_id\nd@example.com,px\n,px\n");
  for (const words of [
    ["lead", "import", "acme", `${file}.missing`],
    ["lead", "import", "acme", file],
    ["lead", "find", "acme", "--list", file],
    ["lead", "import", "acme", csv, "--create-pixels", "--rejects", file],
    ["lead", "erase", "acme", "--email", "d@example.com"],
    ["restore", file],
  ]) {
    const { stderr } = await admin.run(...words);
    expect(stderr).not.toMatch(obeyed);
  }
});

test("a retried lead is reported without control characters", async () => {
  const said: string[] = [];
  const receiver = async () => said.length > 0 || failed("It is full.");
  const stop = new AbortController();
  await deliver(aLead({ id: `${escapes}\nall is well` }), receiver, (text) => said.push(text), stop.signal);
  expect(said).toEqual([expect.stringMatching(/^It is full\. Lead .*all is well is tried again in 0\.5 s\.$/)]);
  expect(said.join()).not.toMatch(obeyed);
});
