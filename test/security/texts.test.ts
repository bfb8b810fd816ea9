/** Texts of strangers that somebody else would obey: a terminal, a spreadsheet, a log, SQL, a file system. */
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { detailFields } from "../../src/contract/lead.ts";
import { anAdmin, readLeads } from "../support/admin.ts";
import { aLead } from "../support/builders.ts";
import { serve } from "../support/harness.ts";

/** Control characters that move the cursor, clear the screen, change the direction of text, or ring the bell. */
const escapes = "\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e\u200f\u0008\u0085";

/** All that a terminal would obey, but for the ends of lines. */
const obeyed = /[\p{Cc}\p{Cf}]/u;

const withoutLineEnds = (text: string) => text.replaceAll("\n", "");

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
  expect(withoutLineEnds(stdout + stderr)).not.toMatch(obeyed);
  const json = await admin.import(
    `{"${JSON.stringify(escapes).slice(1, -1)}":"a","date":"${JSON.stringify(escapes).slice(1, -1)}"}\n`,
  );
  expect(withoutLineEnds(json.stdout + json.stderr)).not.toMatch(obeyed);
});

test("a suggested command quotes names from the file so that none of them ends the quotes", async () => {
  const admin = anAdmin();
  const name = JSON.stringify("x'; touch owned; '");
  const { stderr } = await admin.import(
    `{"email":"d@example.com",${name}:{"email":"e@example.com"}}\n`,
    "--pixel",
    "px",
  );
  const advised = /--map .*touch owned.*/.exec(stderr)?.[0] ?? "";
  expect(advised).toContain("touch owned");
  const shown = Bun.spawnSync(["sh", "-c", `printf '%s\\n' ${advised}`]).stdout.toString();
  expect(shown).toBe("--map\nx'; touch owned; '.email=email\n");
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
    expect(withoutLineEnds(stdout + stderr)).not.toMatch(obeyed);
  }
});

test("a lead with control characters is stored unchanged and escaped in the export", async () => {
  const admin = anAdmin();
  await admin.import(`email,name,pixel_id\nd@example.com,"Dana ${escapes}",px\n`);
  const exported = await admin.exported();
  expect(readLeads(exported)[0]?.name).toBe(`Dana ${escapes}`);
  expect([...withoutLineEnds(exported)].filter((letter) => letter < " ")).toEqual([]);
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
    expect(withoutLineEnds(line)).not.toMatch(obeyed);
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
