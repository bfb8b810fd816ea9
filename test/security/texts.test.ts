/** Texts of strangers that somebody else would obey: a terminal, a spreadsheet, a log, SQL, a file system. */
import { expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { deliver, failed } from "../../packages/client/program/receiver.ts";
import { detailFields } from "../../src/contract/lead.ts";
import { type Admin, anAdmin, readLeads } from "../support/admin.ts";
import { aLead } from "../support/builders.ts";
import { serve } from "../support/harness.ts";
import { onTerminal } from "../support/terminal.ts";

/** Control characters that move the cursor, clear the screen, change the direction of text, or ring the bell. */
const escapes = "\u001b[2J\u001b]0;owned\u0007\u009b31m\u009d0;\u009c\u202e\u2066\u200f\u0008\u007f\u0085";

/** All that a terminal would obey, but for the ends of lines. */
const obeyed = /(?!\r?\n)[\p{Cc}\p{Cf}]/u;

test("the output of an import has no control characters, whatever the file contains", async () => {
  const admin = anAdmin();
  const header = `email${escapes},"${escapes}",first${escapes}name,date,pixel_id,email`;
  const rows = [
    `a,b,c,${escapes}2026,px,d@example.com`,
    `a,b,c,2026-01-31,px${escapes},d@example.com`,
    `a,b,c,2026-01-31,px,d@example.com,${escapes},${escapes}`,
    `a,b,"c${escapes}`,
  ];
  const { stdout, stderr } = await admin.import(`${header}\n${rows.join("\n")}\n`);
  expect(stderr).toContain("rejected");
  expect(stdout + stderr).not.toMatch(obeyed);
  const json = await admin.import(
    `{"${JSON.stringify(escapes).slice(1, -1)}":"a","date":"${JSON.stringify(escapes).slice(1, -1)}"}\n`,
  );
  expect(json.stdout + json.stderr).not.toMatch(obeyed);
});

test("a suggested command quotes names from the file so that none of them ends the quotes", async () => {
  const admin = anAdmin();
  const name = JSON.stringify("x'; touch owned; '");
  const { stderr } = await admin.import(`{${name}:{"email":"e@example.com"}}\n`, "--pixel", "px");
  const advised = /--map .*touch owned.*/.exec(stderr)?.[0] ?? "";
  expect(advised).toContain("touch owned");
  const shown = Bun.spawnSync(["sh", "-c", `printf '%s\\n' ${advised}`]).stdout.toString();
  expect(shown).toBe("--map\nx'; touch owned; '=person\n");
});

test("lists show no control characters", async () => {
  const admin = anAdmin();
  await admin.import(`email,pixel_id,traffic_source,state\nd@example.com,px,${escapes},CA\n`);
  for (const args of [
    ["account", "create", `a${escapes}`],
    ["pixel", "create", "acme", "--id", `p${escapes}`],
    ["pixel", "create", "acme", "--id", "px_2", "--status", `s${escapes}`],
    ["key", "create", "acme", "--label", `l${escapes}`],
  ]) {
    expect((await admin.run(...args)).status).toBe(2);
  }
  for (const args of [
    ["account", "list"],
    ["pixel", "list", "acme"],
    ["key", "list", "acme"],
    ["stats", "acme"],
  ]) {
    const { status, stdout, stderr } = await admin.run(...args);
    expect(status).toBe(0);
    expect(stdout + stderr).not.toMatch(obeyed);
  }
});

test("a line of the log is one object on one line, whatever the path of a request", async () => {
  const { send, logged } = await serve();
  const paths = [
    '/"},{"level":60,"msg":"owned"',
    "/a%0a%0downed",
    "/a%1b%5b2J",
    "/\\n",
    "/api/v1/leads\\u001b[2J",
    "/{{7*7}}",
  ];
  for (const target of paths) await send({ target });
  expect(logged).toHaveLength(paths.length);
  for (const line of logged) {
    expect(line).not.toMatch(obeyed);
    expect(line.trimEnd()).not.toContain("\n");
    expect(JSON.parse(line)).toMatchObject({ status: 404, level: 30 });
  }
});

test("SQL in a parameter is ordinary text", async () => {
  const { as, aKey } = await serve({ leads: [aLead({ city: "Reno" })] });
  const key = aKey();
  const texts = [
    "' OR 1=1--",
    "Reno' --",
    "Reno';DROP TABLE keys;--",
    '" OR ""="',
    "\\' OR 1=1--",
    "Reno') UNION SELECT doc FROM stored_leads--",
    "%",
  ];
  for (const name of ["limit", "before", "since", "pixel_id", "state", "city", "has_email", "' OR 1=1--"]) {
    for (const text of texts) {
      const { status, body } = await as(key).get(`/leads?${encodeURIComponent(name)}=${encodeURIComponent(text)}`);
      expect([200, 400, 404]).toContain(status);
      if (status === 200) expect(body.data).toEqual([]);
    }
  }
  expect((await as(key).get("/leads?city=Reno")).body.data).toHaveLength(1);
});

test("names in a file never become paths: neither that of a pixel nor that of gzip", async () => {
  const admin = anAdmin();
  const csv = `email,pixel_id,page_url\nd@example.com,../../etc/passwd,file:///etc/passwd\n`;
  const packed = gzipSync(csv);
  const named = Buffer.concat([
    packed.subarray(0, 3),
    Buffer.from([8]),
    packed.subarray(4, 10),
    Buffer.from("../../owned\0"),
    packed.subarray(10),
  ]);
  const { status } = await admin.import(named);
  expect(status).toBe(0);
  expect(readdirSync(admin.folder).filter((name) => !/^(?:leadfile\.db.*|\.bun)$/.test(name))).toEqual([]);
  expect((await admin.leads())[0]).toMatchObject({ pixel_id: "../../etc/passwd", page_url: "file:///etc/passwd" });
});

test("a lead can contain property names of JavaScript objects", async () => {
  const admin = anAdmin();
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "prototype"];
  await admin.import(
    `{"email":"d@example.com","pixel_id":"px","__proto__":{"name":"Owned","admin":true},"constructor":{"prototype":{"name":"Owned"}}}\n`,
  );
  const [lead] = await admin.leads();
  for (const field of detailFields) if (field !== "email") expect(lead?.[field]).toBeNull();
  const header = await admin.import(
    `${names.join(",")},email,pixel_id\n${names.map(() => "x").join(",")},e@example.com,px\n`,
  );
  expect(header.json).toMatchObject({ imported: 1 });
});

const name = `Dana ${escapes} Whitfield`;

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
  const written = "\\u001b[2J\\u001b]0;owned\\u0007\\u009b31m\\u009d0;\\u009c\\u202e\\u2066\\u200f";
  expect(terminal.shown()).toContain(`Dana ${written}`);
  expect(terminal.shown()).not.toMatch(obeyed);
});

test("a lead with control characters is stored unchanged, escaped in the export, and equivalent on a terminal", async () => {
  const admin = await withLead();
  const exported = await admin.exported();
  expect(readLeads(exported)).toMatchObject([{ name }]);
  expect([...exported.trimEnd()].filter((letter) => letter < " ")).toEqual([]);
  const terminal = onTerminal(admin.file, ["lead", "export", "acme"]);
  await terminal.ended;
  expect(JSON.parse(terminal.shown())).toMatchObject({ name });
  const { stdout } = await admin.run("lead", "find", "acme", "--email", "d@example.com");
  expect(`${stdout.trimEnd()}\n`).toBe(exported);
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
  const say = (text: string) => void said.push(text);
  const delivery = { say, stop: stop.signal, now: () => 0, deadLetters: null };
  await deliver(aLead({ id: `${escapes}\nall is well` }), receiver, delivery);
  const line = /^It is full\. Lead .*all is well is tried again in 0\.5 s, at 1970-01-01T00:00:00Z\.$/;
  expect(said).toEqual([expect.stringMatching(line)]);
  expect(said.join()).not.toMatch(obeyed);
});
