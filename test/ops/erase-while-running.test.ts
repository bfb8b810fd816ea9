/** A person is erased while the server responds and an import runs: no byte remains, and none returns. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../support/admin.ts";
import { filesWith } from "../support/bytes.ts";
import { until } from "../support/eventually.ts";
import { client } from "../support/harness.ts";
import { start } from "../support/process.ts";

const row = (number: number) =>
  `2026-01-31T00:00:00Z,px,Visitor Number${number},visitor${number}@example.com,1555014${number}\n`;
const rows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, offset) => row(10_000 + from + offset)).join("");
const header = "identified_at,pixel_id,name,email,phone\n";
const residualOf = (number: number) => [`visitor${number}@example.com`, `Visitor Number${number}`, `1555014${number}`];

async function aServer() {
  const admin = anAdmin();
  await admin.import(header + rows(0, 4000));
  const server = start({ DATABASE_PATH: admin.file, RATE_LIMIT_PER_MIN: "1000000000" }, join(admin.folder));
  const url = await server.listening();
  const { key } = (await admin.run("key", "create", "acme", "--json")).json;
  return { admin, server, api: client(url, { Authorization: `Bearer ${key}` }) };
}

const database = (folder: string) => readdirSync(folder).filter((name) => name.startsWith("leadfile.db"));

test("a server that has just served the person no longer does, and no file has a byte of the person", async () => {
  const { admin, server, api } = await aServer();
  for (let times = 0; times < 3; times++) expect((await api.get("/leads?limit=1")).text).toContain("visitor13999@");
  const { status, json, stderr } = await admin.run("lead", "erase", "acme", "--phone", "155501413999", "--json");
  expect({ status, erased: json["erased"] }).toEqual({ status: 0, erased: 1 });
  expect(stderr).toContain("No other lead has the email address");
  expect(database(admin.folder)).toContain("leadfile.db-wal");
  expect(filesWith(admin.folder, ...residualOf(13_999))).toEqual([]);
  expect((await api.get("/leads?limit=1")).text).toContain("visitor13998@");
  expect(await server.end("SIGTERM")).toBe(0);
  expect(filesWith(admin.folder, ...residualOf(13_999))).toEqual([]);
});

test("a running import does not bring the person back, and completes", async () => {
  const { admin, api } = await aServer();
  const more = admin.put("more.csv", header + rows(3000, 9_000));
  const importing = admin.run("lead", "import", "acme", more, "--json");
  await until(async () => !(await api.get("/leads?limit=1")).text.includes("visitor13999@"));
  const erased = [13_500, 18_999].map((number) =>
    admin.run("lead", "erase", "acme", "--email", `visitor${number}@example.com`, "--json"),
  );
  for (const { status } of await Promise.all(erased)) expect(status).toBe(0);
  const { status, json } = await importing;
  expect({ status, rejected: json["rejected"], read: json["read"] }).toEqual({ status: 0, rejected: 0, read: 6_000 });
  for (const number of [13_500, 18_999]) expect(filesWith(admin.folder, ...residualOf(number))).toEqual(["more.csv"]);
  expect((await admin.leads()).length).toBe(9_000 - 2);
});

test("a person of whom a running import adds leads has one receipt, with all erased leads", async () => {
  const admin = anAdmin();
  const dana = (number: number) =>
    `2026-01-31T00:00:00Z,px,Dana ${number},dana@example.com,1619555${1000 + (number % 9000)}\n`;
  const more = Array.from({ length: 10_000 }, (_, n) => (n % 50 === 0 ? dana(n) : row(100_000 + n))).join("");
  const file = admin.put("more.csv", header + more);
  const importing = admin.run("lead", "import", "acme", file, "--create-pixels", "--json");
  using reader = new Database(admin.file, { readonly: true });
  const stored = reader.query("SELECT 1 FROM stored_leads LIMIT 1");
  await until(() => stored.get() !== null, 5);
  const erased = await admin.run("lead", "erase", "acme", "--email", "dana@example.com", "--json");
  const { imported, suppressed } = (await importing).json;
  expect([imported, Number(suppressed)]).toEqual([10_000 - Number(suppressed), expect.any(Number)]);
  expect(erased.json).toMatchObject({ erased: 200 - Number(suppressed), receipt: { account: expect.any(String) } });
  expect(erased.stderr).not.toContain("of 1 of");
});

test("a program that keeps reading the old state is named as the obstacle, and the receipt is printed", async () => {
  const { admin } = await aServer();
  using other = new Database(admin.file);
  other.run("BEGIN");
  other.query("SELECT count(*) FROM stored_leads").get();
  // The person is only in the log: the reader prevents a checkpoint.
  await admin.import(header + row(99_999));
  const logBytes = statSync(`${admin.file}-wal`).size;
  const child = admin.start("lead", "erase", "acme", "--email", "visitor99999@example.com");
  const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  expect(status).toBe(1);
  expect(stdout).toContain('"hashes"');
  expect(stderr).toContain("Stop that program");
  // The log, which cannot be truncated, gets no copy of the whole file.
  expect(statSync(`${admin.file}-wal`).size - logBytes).toBeLessThan(statSync(admin.file).size / 4);
  other.run("COMMIT");
  expect(await admin.run("lead", "erase", "acme", "--email", "visitor99999@example.com")).toMatchObject({ status: 0 });
  expect(filesWith(admin.folder, ...residualOf(99_999))).toEqual([]);
});
