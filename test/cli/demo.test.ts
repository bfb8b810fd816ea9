/** bun admin demo: something to try the API with, in one command. */
import { expect, test } from "bun:test";
import { anAdmin } from "../admin.ts";
import { client } from "../harness.ts";
import { start } from "../process.ts";

test("demo makes an account, three pixels, a thousand leads and a key that a server admits", async () => {
  const admin = anAdmin([]);
  const { json, stderr, status } = await admin.run("demo", "--json");
  expect<unknown>({ ...json, status }).toEqual({
    account: expect.stringMatching(/^acc_/),
    pixels: [expect.any(String), expect.any(String), expect.any(String)],
    key: expect.stringMatching(/^lf_[0-9A-Za-z]{38}$/),
    url: "http://127.0.0.1:3000",
    status: 0,
  });
  expect(stderr).not.toContain(json.key);
  const leads = await admin.leads(json.account);
  expect(leads).toHaveLength(1000);
  expect(Date.parse(leads.at(-1)?.identified_at ?? "")).toBeLessThanOrEqual(Date.now());

  const url = await start({ DATABASE_PATH: admin.file }, admin.folder).listening();
  const api = client(url, { Authorization: `Bearer ${json.key}` });
  expect((await api.get("/leads?limit=3")).body.data).toEqual(leads.slice(-3).toReversed());
});

test("nobody in it is real: names of example.com and numbers that are kept for fiction", async () => {
  const admin = anAdmin([]);
  const leads = await admin.leads((await admin.run("demo", "--json")).json.account);
  const odd = leads.filter(({ email, phone, page_url }) => {
    const fictional = phone === null || /^1?\d{3}55501\d\d$/.test(phone);
    return (
      !(email ?? "@example.com").endsWith("@example.com") ||
      !fictional ||
      !page_url?.startsWith("https://www.example.com/")
    );
  });
  expect(odd).toEqual([]);
});

test("the lines that it prints lead to answers when they are run as they are", async () => {
  const setUp = anAdmin([]);
  const url = await start({ DATABASE_PATH: setUp.file }, setUp.folder).listening();
  const { stdout } = await anAdmin([], { DATABASE_PATH: setUp.file, BASE_URL: url }).run("demo");
  const commands = stdout.split("\n").filter((line) => /^\s*(curl|export) /.test(line));
  expect(commands.length).toBeGreaterThanOrEqual(7);
  const keyLine = commands[0] ?? "";
  for (const line of commands.slice(1)) {
    const child = Bun.spawn(["sh", "-c", `${keyLine}; ${line} -s -o /dev/null -w '%{http_code}'`], { stdout: "pipe" });
    expect(`${line}: ${await child.stdout.text()}`).toBe(`${line}: 200`);
  }
});

test("again it makes nothing twice, and another key", async () => {
  const admin = anAdmin([]);
  const first = (await admin.run("demo", "--json")).json;
  const second = (await admin.run("demo", "--json")).json;
  expect({ ...second, key: "" }).toEqual({ ...first, key: "" });
  expect(second.key).not.toBe(first.key);
  expect(await admin.leads(first.account)).toHaveLength(1000);
});
