/** A person is erased while the server responds and an import runs: no byte remains, and none returns. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { anAdmin } from "../support/admin.ts";
import { until } from "../support/eventually.ts";
import { filesWith } from "../support/folder.ts";
import { client } from "../support/harness.ts";
import { start } from "../support/process.ts";

const row = (number: number) =>
  `2026-01-31T00:00:00Z,px,Visitor Number${number},visitor${number}@example.com,1555014${number}\n`;
const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => row(from + n)).join("");
const header = "identified_at,pixel_id,name,email,phone\n";
const residualOf = (number: number) => [`visitor${number}@example.com`, `Visitor Number${number}`, `1555014${number}`];

test("an erased person is no longer served, no running import brings one back, and no file has a byte", async () => {
  const admin = anAdmin();
  await admin.import(header + rows(10_000, 11_500));
  const server = start({ DATABASE_PATH: admin.file, RATE_LIMIT_PER_MIN: "1000000000" }, admin.folder);
  const url = await server.listening();
  const { key } = (await admin.run("key", "create", "acme", "--json")).json;
  const { get } = client(url, { Authorization: `Bearer ${key}` });
  const erase = (...by: string[]) => admin.run("lead", "erase", "acme", ...by, "--json");

  for (let times = 0; times < 3; times++) expect((await get("/leads?limit=1")).text).toContain("visitor11499@");
  const served = await erase("--phone", "155501411499");
  expect({ status: served.status, erased: served.json["erased"] }).toEqual({ status: 0, erased: 1 });
  expect(served.stderr).toContain("No other lead has the email address");
  expect((await get("/leads?limit=1")).text).toContain("visitor11498@");
  expect(statSync(`${admin.file}-wal`).isFile()).toBe(true);
  expect(filesWith(admin.folder, ...residualOf(11_499))).toEqual([]);

  const danas = Array.from(
    { length: 60 },
    (_, n) => row(20_000 + n).replace(/visitor\d+@/, "dana@") + rows(14_000 + n * 40, 14_040 + n * 40),
  );
  const more = admin.put("more.csv", header + danas.join(""));
  const importing = admin.run("lead", "import", "acme", more, "--json");
  await until(async () => !(await get("/leads?limit=1")).text.includes("visitor11498@"));
  const erased = await Promise.all(["dana", "visitor16399"].map((name) => erase("--email", `${name}@example.com`)));
  const { status, json } = await importing;
  expect({ status, ...json }).toMatchObject({ status: 0, rejected: 0, read: 2_460 });
  // One receipt has all leads of the person, whenever they were imported.
  for (const { json, stderr } of erased) {
    expect(json).toMatchObject({ receipt: { account: expect.any(String) } });
    expect(stderr).not.toContain("of 1 of");
  }
  const counts = [json["suppressed"], ...erased.map((ended) => ended.json["erased"])];
  expect(counts.reduce((sum: number, count) => sum + Number(count), 0)).toBe(61);
  expect(await admin.leads()).toHaveLength(1_500 - 1 + 2_400 - 1);
  for (const person of ["dana@example.com", ...residualOf(16_399)])
    expect(filesWith(admin.folder, person)).toEqual(["more.csv"]);
  expect(await server.end("SIGTERM")).toBe(0);
  expect(filesWith(admin.folder, ...residualOf(11_499))).toEqual([]);
});

test("a program that keeps reading the old state is named as the obstacle, and the receipt is printed", async () => {
  const admin = anAdmin();
  await admin.import(header + rows(10_000, 12_000));
  using other = new Database(admin.file);
  other.run("BEGIN");
  other.query("SELECT count(*) FROM stored_leads").get();
  // The person is only in the log: the reader prevents a checkpoint.
  await admin.import(header + row(99_999));
  const logBytes = statSync(`${admin.file}-wal`).size;
  const erasing = ["lead", "erase", "acme", "--email", "visitor99999@example.com"];
  const { status, stdout, stderr } = await admin.start(...erasing).finished();
  expect(status).toBe(1);
  expect(stdout).toContain('"hashes"');
  expect(stderr).toContain("Stop that program");
  // The log, which cannot be truncated, gets no copy of the whole file.
  expect(statSync(`${admin.file}-wal`).size - logBytes).toBeLessThan(statSync(admin.file).size / 4);
  other.run("COMMIT");
  expect(await admin.run(...erasing)).toMatchObject({ status: 0 });
  expect(filesWith(admin.folder, ...residualOf(99_999))).toEqual([]);
});
